import CLinux
import Glibc
import Hosting
import JSON

extension HostQueue {
    /// Ends the queue with its role: nothing of the host's is called after this, and each user data is released once.
    ///
    /// Inside a callback of the handle it returns before that callback's own user data is released; elsewhere it waits
    /// for the callback that is running.
    func close(_ role: any Role) {
        recover(at: linux_stack())
        let me = pthread_self()
        // From now on the role's answers come too late: all calls end because of the close. Completions are queued for
        // the last step. Waiting calls return at once, because the next step may wait for a callback that made one.
        let waiting = state.update { state -> [PendingCall] in
            state.phase = .closing
            return state.calls.keys.sorted().compactMap { state.end($0, .failure(.closed)) }
        }
        for call in waiting { call.answer(.failure(.closed)) }
        wake()
        state.wait(checking: recoverFromEndedThread) {
            $0.dispatcher == nil || $0.dispatcher?.thread == me ? () : nil
        }

        for batch in state.withLock({ $0.sources.takeBatches() }) {
            // If the store fails here, the rows stay unmarked: they come again, and say so.
            let source = role.sources.first { $0.name == batch.name }
            try? source?.finish(handed: batch.handed, untouched: batch.untouched)
        }
        let isDown = Monitor(false)
        role.shutDown { isDown.update { $0 = true } }
        isDown.wait { $0 ? () : nil }

        let (items, released) = state.update { state in
            (state.buffer.takeAll(), state.registrations.removeAll())
        }
        for case .completion(let completion, let outcome) in items { completion.call(outcome) }
        for case .question(let question) in items { question.answer(nil) }
        for userData in released { userData.release() }
        let thread = state.update { state -> pthread_t? in
            state.phase = .closed
            return state.thread
        }
        // A running dispatch may have consumed the first wake-up; other threads may wait in `run`.
        wake()
        guard let thread else { return }
        if thread == me { pthread_detach(thread) } else { pthread_join(thread, nil) }
    }

    // MARK: "threaded"

    /// Starts the thread that dispatches for a host that asked for one.
    func startThread(from sources: [any EventSource]) throws(HostError) {
        final class Start {
            let queue: HostQueue
            let sources: [any EventSource]
            init(_ queue: HostQueue, _ sources: [any EventSource]) { (self.queue, self.sources) = (queue, sources) }
        }
        var thread = pthread_t()
        var everything = sigset_t()
        var before = sigset_t()
        sigfillset(&everything)
        pthread_sigmask(SIG_BLOCK, &everything, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let start = Unmanaged.passRetained(Start(self, sources))
        let code = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                let queue = start.queue
                queue.state.wait { $0.thread == nil ? nil : () }
                while queue.state.withLock({ $0.phase == .open }) {
                    // This loop's status is not reported; an event reports a failed store.
                    do throws(HostError) { try queue.run(milliseconds: nil, from: start.sources) } catch {
                        guard error.code != .closed else { continue }
                        let code = "\(error.code.name)_failed"
                        queue.post(
                            HostEvent(.problem, data: ["code": .string(code), "message": .string(error.message)]))
                    }
                }
                return nil
            }, start.toOpaque())
        guard code == 0 else {
            start.release()
            throw HostError(.limit, "cannot start a thread: \(String(cString: strerror(code)))")
        }
        state.update { $0.thread = thread }
    }
}
