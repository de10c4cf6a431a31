import CBellwire
import Glibc
import Hosting
import JSON

extension HostQueue {
    /// Hands over what waits now, on the calling thread.
    ///
    /// `source` has the pushes. Errors: `busy` inside a callback of this handle or beside another dispatch, `closed`
    /// when the handle was closed meanwhile, `store` when pushes could not be taken or marked.
    func dispatch(from source: (any PushSource)?) throws(HostError) {
        try begin()
        defer { end() }
        drainDescriptor()
        LogRing.drain()
        reportDropped()

        // What callbacks cause is for the next dispatch: this one ends.
        var remaining = state.withLock { $0.items.count }
        var failure: HostError?
        while remaining > 0, let item = next() {
            remaining -= 1
            switch item {
            case .event(let event): deliver(event)
            case .completion(let completion, let outcome): completion.call(outcome)
            case .pushes:
                do throws(HostError) { try deliverPushes(from: source) } catch { failure = failure ?? error }
            }
        }
        if state.withLock({ $0.phase }) != .open { throw .closed }
        if let failure { throw failure }
    }

    private func begin() throws(HostError) {
        let me = pthread_self()
        try state.update { (state) throws(HostError) in
            guard state.phase == .open else { throw .closed }
            if let thread = state.thread, thread != me {
                throw HostError(.busy, "the handle is \"threaded\": the library dispatches by itself")
            }
            guard state.dispatcher == nil else {
                let place = state.dispatcher == me ? "a callback of this handle" : "another thread"
                throw HostError(.busy, "dispatch is under way in \(place); let it return first")
            }
            state.dispatcher = me
        }
    }

    private func end() {
        let (hasMore, ended) = state.update { state -> (Bool, [UserData]) in
            state.dispatcher = nil
            defer { state.ended = [] }
            return (!state.items.isEmpty, state.ended)
        }
        for userData in ended { userData.release() }
        if hasMore { wake() }
    }

    private func drainDescriptor() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
    }

    private func reportDropped() {
        let dropped = state.withLock { state -> Int in
            defer { state.dropped = 0 }
            return state.dropped
        }
        guard dropped > 0 else { return }
        let message =
            "\(dropped) events were dropped: the host's queue holds \(HostQueue.capacity); dispatch more often"
        deliver(HostEvent(.problem, data: ["code": "events_dropped", "message": .string(message)]))
    }

    private func next() -> Item? {
        state.withLock { state in
            guard state.phase == .open, !state.items.isEmpty else { return nil }
            return state.items.removeFirst()
        }
    }

    /// Calls every subscription that wants the event, in the order in which they were made. `false` = the handle was
    /// closed before all had it.
    @discardableResult private func deliver(_ event: HostEvent) -> Bool {
        let numbers = state.withLock { state in
            state.subscriptions.filter { $0.name == nil || $0.name == event.name }.map(\.number)
        }
        guard !numbers.isEmpty else { return true }
        let json = event.serialized()
        for number in numbers {
            let subscription = state.withLock { state -> Subscription? in
                // A callback before this one may have ended it, or closed the handle.
                guard state.phase == .open else { return nil }
                let subscription = state.subscriptions.first { $0.number == number }
                state.running = subscription?.number
                return subscription
            }
            guard let subscription else { continue }
            subscription.callback(subscription.userData.pointer, event.name.rawValue, json)
            let ended = state.update { state -> [UserData] in
                state.running = nil
                defer { state.ended = [] }
                return state.ended
            }
            for userData in ended { userData.release() }
        }
        return state.withLock { $0.phase == .open }
    }

    /// Takes a batch from the store, hands it over, and marks it before returning.
    private func deliverPushes(from source: (any PushSource)?) throws(HostError) {
        guard let source else { return }
        state.withLock { $0.pushesWait = false }
        let pushes: [WaitingPush]
        do throws(HostError) { pushes = try source.takePushes(limit: HostQueue.pushBatch) } catch {
            state.withLock { $0.pushesWait = true }
            throw error
        }
        guard !pushes.isEmpty else { return }
        state.withLock { $0.batch = Batch(handed: [], untouched: pushes.map(\.row)) }
        for push in pushes {
            let isWanted = state.withLock { state in
                guard state.phase == .open, state.wants(push.event.name) else { return false }
                state.batch?.untouched.removeFirst()
                state.batch?.handed.append(push.row)
                return true
            }
            guard isWanted, deliver(push.event) else { break }
        }
        let batch = state.withLock { state -> Batch? in
            defer { state.batch = nil }
            if pushes.count == HostQueue.pushBatch || state.batch?.untouched.isEmpty == false {
                state.pushesWait = true
                state.enqueuePushes()
            }
            return state.batch
        }
        // `nil`: a close inside a callback has marked it already.
        if let batch { try source.finishPushes(handed: batch.handed, untouched: batch.untouched) }
    }

    // MARK: The loop for programs that have none

    /// Dispatches until the time is over, ``quit()`` or close. `nil` = no limit.
    func run(milliseconds: Int64?, from source: (any PushSource)?) throws(HostError) {
        let end = milliseconds.map { now() &+ $0 }
        while true {
            // Before any look at the time: inside a callback it is refused however short the time is.
            try dispatch(from: source)
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
