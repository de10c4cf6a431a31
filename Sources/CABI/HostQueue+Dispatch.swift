import CBellwire
import Glibc
import Hosting
import JSON

extension HostQueue {
    /// So long after a source has failed to give what it has it is asked again, in milliseconds.
    static let retryInterval: Int64 = 1_000

    /// Hands over what waits now, on the calling thread.
    ///
    /// `sources` have what is stored. Errors: `busy` inside a callback of this handle or beside another dispatch, `closed`
    /// when the handle was closed meanwhile, `store` when stored events could not be taken or marked.
    func dispatch(from sources: [any EventSource]) throws(HostError) {
        try begin()
        defer { end() }
        drainDescriptor()
        if LogRing.drain() { wake() }
        reportDropped()
        retrySources()

        // What callbacks cause is for the next dispatch: this one ends.
        var remaining = state.withLock { $0.items.count }
        var failure: HostError?
        while remaining > 0, let item = state.withLock({ $0.takeItem() }) {
            remaining -= 1
            switch item {
            case .event(let event): deliver(event)
            case .completion(let completion, let outcome): completion.call(outcome)
            case .question(let question): put(question)
            case .stored(let name):
                guard let source = sources.first(where: { $0.name == name }) else { continue }
                do throws(HostError) { try deliver(from: source) } catch { failure = failure ?? error }
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

    /// Calls every subscription that wants the event, in the order in which they were made. `false` = nobody was called:
    /// none is there, they were ended meanwhile, or the handle was closed.
    ///
    /// `row` is that of a stored event in the batch: it has been handed over once somebody is called with it.
    @discardableResult private func deliver(_ event: HostEvent, row: Int64? = nil) -> Bool {
        let numbers = state.withLock { state in
            let numbers = state.subscriptions.filter { $0.name == nil || $0.name == event.name }.map(\.number)
            if numbers.isEmpty, event.name == .problem, state.unheard.count < HostQueue.unheardCapacity {
                state.unheard.append(event)
            }
            return numbers
        }
        guard !numbers.isEmpty else { return false }
        let json = event.serialized()
        var isHeard = false
        for number in numbers {
            let subscription = state.withLock { state -> Subscription? in
                // A callback before this one, or another thread, may have ended it or closed the handle.
                guard state.phase == .open, let subscription = state.subscriptions.first(where: { $0.number == number })
                else { return nil }
                state.running = subscription.number
                if let row { state.batch?.hand(row) }
                return subscription
            }
            guard let subscription else { continue }
            isHeard = true
            subscription.callback(subscription.userData.pointer, event.name.rawValue, json)
            callbackReturned()
        }
        return isHeard
    }

    private func callbackReturned() {
        let ended = state.update { state -> [UserData] in
            state.running = nil
            defer { state.ended = [] }
            return state.ended
        }
        for userData in ended { userData.release() }
    }

    /// Asks who is registered for it now.
    private func put(_ question: HostQuestion) {
        let hook = state.withLock { state -> Hook? in
            guard state.phase == .open, let hook = state.hooks.first(where: { $0.hook == question.hook }) else {
                return nil
            }
            state.running = hook.number
            return hook
        }
        guard let hook else { return question.answer(nil) }
        let answer = hook.callback(hook.userData.pointer, question.json)
        callbackReturned()
        question.answer(answer)
    }

    /// What the store would not give is asked for again now and then.
    private func retrySources() {
        let now = now()
        state.withLock { state in
            var retries = false
            for index in state.sources.indices {
                guard let failedAt = state.sources[index].failedAt, now &- failedAt >= HostQueue.retryInterval else {
                    continue
                }
                state.sources[index].failedAt = nil
                retries = true
            }
            if retries { state.enqueueStored() }
        }
    }

    /// Takes a batch from the store, hands it over, and marks it before returning.
    private func deliver(from source: any EventSource) throws(HostError) {
        let name = source.name
        let waiting: [WaitingEvent]
        do throws(HostError) {
            let unmarked = state.withLock {
                $0.withSource(name) { source -> [Int64]? in
                    source.waits = false
                    return source.unmarked
                }
            }
            if let unmarked {
                try source.restore(untouched: unmarked)
                state.withLock { $0.withSource(name) { $0.unmarked = nil } }
            }
            waiting = try source.take(limit: HostQueue.batchLimit)
        } catch {
            let now = now()
            state.withLock { $0.withSource(name) { ($0.waits, $0.failedAt) = (true, now) } }
            throw error
        }
        guard !waiting.isEmpty else { return }
        state.withLock { $0.batch = Batch(name: name, handed: [], untouched: waiting.map(\.row)) }
        for item in waiting {
            // Who takes no updates gets a new push: none is kept from the host, nor may it hold up those behind it.
            let isWanted = state.withLock { $0.wants(item.event.name) }
            guard deliver(isWanted ? item.event : item.event.named(name), row: item.row) else { break }
        }
        let batch = state.withLock { state -> Batch? in
            defer { state.batch = nil }
            if waiting.count == HostQueue.batchLimit || state.batch?.untouched.isEmpty == false {
                state.withSource(name) { $0.waits = true }
                state.enqueueStored()
            }
            return state.batch
        }
        // `nil`: a close inside a callback has marked it already.
        guard let batch else { return }
        do throws(HostError) { try source.finish(handed: batch.handed, untouched: batch.untouched) } catch {
            // They come again with the next dispatch, and say so.
            state.withLock { state in
                state.withSource(name) { ($0.unmarked, $0.waits) = (batch.untouched, true) }
                state.enqueueStored()
            }
            throw error
        }
    }

    // MARK: The loop for programs that have none

    /// Dispatches until the time is over, ``quit()`` or close. `nil` = no limit.
    func run(milliseconds: Int64?, from sources: [any EventSource]) throws(HostError) {
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
