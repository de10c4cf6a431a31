import CBellwire
import CLinux
import Glibc
import Hosting
import JSON

extension HostQueue {
    static let retryInterval = StoredSources.retryInterval

    /// Hands over what waits now, on the calling thread, and marks what it has handed over once, before it returns.
    ///
    /// Stored events come from `sources`. Errors: `busy` inside a callback of this handle or during another dispatch,
    /// `closed` if the handle was closed in the meantime, `store` if stored events could not be taken or marked.
    func dispatch(from sources: [any EventSource]) throws(HostError) {
        recover(at: linux_stack())
        try begin()
        defer { end() }
        drainDescriptor()
        drainLog()
        reportDropped()
        retrySources()

        // What callbacks cause is left to the next dispatch: this one ends.
        let end = state.withLock { $0.buffer.end }
        var failure: HostError?
        while let item = state.withLock({ $0.takeItem(before: end) }) {
            switch item {
            case .event(let event): deliver(event)
            case .completion(let completion, let outcome):
                let frame = linux_stack()
                state.withLock { state in
                    state.call = CallbackCall(frame: frame, question: nil)
                    // Should it not return, ``recover(at:)`` releases this.
                    state.registrations.keepUntilReturn(completion.userData)
                }
                completion.call(outcome)
                callbackReturned()
            case .question(let question): put(question)
            case .stored(let name):
                guard let source = sources.first(where: { $0.name == name }) else { continue }
                do throws(HostError) { try deliver(from: source) } catch { failure = failure ?? error }
            }
        }
        do throws(HostError) { try markBatches(of: sources) } catch { failure = failure ?? error }
        if state.withLock({ $0.phase }) != .open { throw .closed }
        if let failure { throw failure }
    }

    private func begin() throws(HostError) {
        let me = pthread_self()
        try state.update { (state) throws(HostError) in
            guard state.phase == .open else { throw .closed }
            if let thread = state.thread, thread != me {
                throw HostError(.busy, "the handle is \"threaded\"; the library dispatches on its own thread")
            }
            guard state.dispatcher == nil else {
                let place = state.dispatcher?.thread == me ? "a callback of this handle" : "another thread"
                throw HostError(.busy, "dispatch is already running in \(place); let it return first")
            }
            state.dispatcher = Dispatcher()
        }
    }

    private func end() {
        let (hasMore, ended) = state.update { state -> (Bool, [UserData]) in
            (state.dispatcher, state.call) = (nil, nil)
            return (!state.buffer.isEmpty, state.registrations.takeEnded())
        }
        for userData in ended { userData.release() }
        if hasMore { wake() }
    }

    /// The log's callback may be left as any other.
    private func drainLog() {
        let frame = linux_stack()
        state.withLock { $0.call = CallbackCall(frame: frame, question: nil) }
        let hasMore = LogRing.drain(at: frame)
        state.withLock { $0.call = nil }
        if hasMore { wake() }
    }

    private func drainDescriptor() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
        // Only now: what was posted before this line is handed over by this dispatch, and what comes after it makes the
        // descriptor readable again.
        state.withLock { $0.isSignalled = false }
    }

    private func reportDropped() {
        let dropped = state.withLock { $0.buffer.takeDropped() }
        guard dropped > 0 else { return }
        let message =
            "\(dropped) events were dropped: the event queue holds \(HostQueue.capacity); dispatch more often"
        deliver(HostEvent(.problem, data: ["code": "events_dropped", "message": .string(message)]))
    }

    /// Calls every subscription to the event, oldest first. `false` = none was called: there is none, all have ended,
    /// or the handle was closed.
    ///
    /// `row` is that of a stored event in the batch of `source`: it has been handed over once somebody is called with it.
    @discardableResult private func deliver(
        _ event: HostEvent, row: Int64? = nil, of source: (any EventSource)? = nil
    ) -> Bool {
        let numbers = state.withLock { state in
            let numbers = state.registrations.numbers(for: event.name)
            if numbers.isEmpty, event.name == .problem { state.buffer.keepUnheard(event) }
            return numbers
        }
        guard !numbers.isEmpty else { return false }
        let json = event.serialized()
        var isHeard = false
        let frame = linux_stack()
        for number in numbers {
            let subscription = state.withLock { state -> Registrations.Subscription? in
                // A callback before this one, or another thread, may have ended it or closed the handle.
                guard state.phase == .open, let subscription = state.registrations.begin(number) else { return nil }
                if let row { state.sources.handed(row) }
                state.call = CallbackCall(frame: frame, question: nil)
                return subscription
            }
            guard let subscription else { continue }
            if let row, !isHeard { source?.willHandOver(row) }
            isHeard = true
            subscription.callback(subscription.userData.pointer, event.name.rawValue, json)
            callbackReturned()
        }
        return isHeard
    }

    private func callbackReturned() {
        let ended = state.update { state in
            state.call = nil
            return state.registrations.callbackReturned()
        }
        for userData in ended { userData.release() }
    }

    /// Asks the hook that is registered now.
    private func put(_ question: HostQuestion) {
        guard question.isAsked() else { return question.answer(nil) }
        let frame = linux_stack()
        let hook = state.withLock { state -> Registrations.Hook? in
            guard state.phase == .open, let hook = state.registrations.begin(question.hook) else { return nil }
            state.call = CallbackCall(frame: frame, question: CallbackCall.Asked(question))
            return hook
        }
        guard let hook else { return question.answer(nil) }
        let answer = hook.callback(hook.userData.pointer, question.json)
        callbackReturned()
        question.answer(answer)
    }

    /// Sources that failed are asked again now and then.
    private func retrySources() {
        let now = now()
        state.withLock { state in
            if state.sources.retry(now: now) { state.enqueueStored() }
        }
    }

    /// Takes a batch of stored events and hands it over.
    private func deliver(from source: any EventSource) throws(HostError) {
        let name = source.name
        let waiting: [WaitingEvent]
        do throws(HostError) {
            if let unmarked = state.withLock({ $0.sources.willTake(name) }) {
                try source.restore(untouched: unmarked)
                state.withLock { $0.sources.restored(name) }
            }
            waiting = try source.take(limit: HostQueue.batchLimit)
        } catch {
            let now = now()
            state.withLock { $0.sources.failed(name, now: now) }
            throw error
        }
        guard !waiting.isEmpty else { return }
        state.withLock { $0.sources.begin(name, rows: waiting.map(\.row)) }
        for item in waiting {
            // Without a subscription to updates, an update is delivered as a new push: none is withheld, and none
            // blocks those behind it.
            let isWanted = item.event.name == name || state.withLock { $0.registrations.wants(item.event.name) }
            guard deliver(isWanted ? item.event : item.event.named(name), row: item.row, of: source) else {
                break
            }
        }
        state.withLock { state in
            state.sources.batchEnded(isFull: waiting.count == HostQueue.batchLimit)
            state.enqueueStored()
        }
    }

    /// Marks what this dispatch has handed over. A close inside a callback has marked it already.
    private func markBatches(of sources: [any EventSource]) throws(HostError) {
        var failure: HostError?
        for batch in state.withLock({ $0.sources.takeBatches() }) {
            guard let source = sources.first(where: { $0.name == batch.name }) else { continue }
            do throws(HostError) { try source.finish(handed: batch.handed, untouched: batch.untouched) } catch {
                failure = failure ?? error
                state.withLock { state in
                    state.sources.notMarked(batch)
                    state.enqueueStored()
                }
            }
        }
        if let failure { throw failure }
    }

    // MARK: The loop for programs without one

    /// Dispatches until the time is over, ``quit()`` or close. `nil` = no limit.
    func run(milliseconds: Int64?, from sources: [any EventSource]) throws(HostError) {
        recover(at: linux_stack())
        let end = milliseconds.map { now() &+ $0 }
        while true {
            // Before any look at the time: inside a callback it is refused however short the time is.
            try dispatch(from: sources)
            // After that: it may have taken the wake-up of a `quit` with it.
            let quits = state.withLock { state -> Bool in
                defer { state.quits = false }
                return state.quits
            }
            if quits { return }
            let left = end.map { $0 &- now() }
            if let left, left <= 0 { return }
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let wait = left.map { Int32(clamping: $0) } ?? -1
            if poll(&request, 1, wait) < 0, errno != EINTR {
                throw HostError(.io, "waiting for events failed: \(String(cString: strerror(errno)))")
            }
        }
    }

    func quit() {
        state.update { $0.quits = true }
        wake()
    }

    private func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) &* 1_000 &+ Int64(time.tv_nsec) / 1_000_000
    }
}
