/// Holds the machine's suspend back until our connections are closed, and no longer.
///
/// `Lock` is what holds it: letting go of it lets the machine sleep.
struct SleepStateMachine<Lock> {
    enum Action {
        /// Ask logind for a lock.
        case inhibit
        /// Tell the host to close what it has, then ``SleepStateMachine/closed(_:)`` with this number; at the latest
        /// after the limit.
        case goToSleep(number: Int)
        case wakeUp
        /// Stop the limit: the host is done, or the machine is awake.
        case stopWaiting
        /// Why the machine does not wait for us; `nil` = it does.
        case note(String?)
    }

    private indirect enum State {
        /// No logind.
        case absent
        case awake(lock: Lock?)
        /// The host closes its connections; the machine waits for the lock.
        case closing(lock: Lock?)
        case asleep
    }

    private var state = State.absent
    /// Counts the times that the machine went to sleep: being done with one is not being done with the next.
    private var number = 0
    /// Whether a request for a lock is under way: one at a time.
    private var isAsking = false
    /// Counts lives of logind: an answer to an earlier one is void.
    private(set) var round = 0

    mutating func appeared() -> [Action] {
        guard case .absent = state else { return [] }
        round &+= 1
        state = .awake(lock: nil)
        isAsking = true
        return [.inhibit]
    }

    /// logind has stopped, and its delay lock has ended. If the owner was notified of sleep, it is now notified of
    /// waking; no other event would do that.
    mutating func gone(_ reason: String) -> [Action] {
        round &+= 1
        isAsking = false
        defer { state = .absent }
        switch state {
        case .absent, .awake: return [.note(reason)]
        case .closing: return [.stopWaiting, .wakeUp, .note(reason)]
        case .asleep: return [.wakeUp, .note(reason)]
        }
    }

    mutating func inhibited(_ lock: Lock) -> [Action] {
        isAsking = false
        switch state {
        case .awake:
            state = .awake(lock: lock)
            return [.note(nil)]
        case .closing:
            state = .closing(lock: lock)
            return []
        // Too late: the lock goes with its last reference, here.
        case .absent, .asleep: return []
        }
    }

    mutating func refused(_ reason: String) -> [Action] {
        isAsking = false
        return [.note(reason)]
    }

    mutating func prepareForSleep() -> [Action] {
        guard case .awake(let lock) = state else { return [] }
        state = .closing(lock: lock)
        number &+= 1
        return [.goToSleep(number: number)]
    }

    /// The host has closed its connections, or took too long.
    mutating func closed(_ number: Int) -> [Action] {
        guard case .closing = state, number == self.number else { return [] }
        state = .asleep
        return [.stopWaiting]
    }

    mutating func woke() -> [Action] {
        var actions: [Action] = []
        switch state {
        case .absent, .awake: return []
        // It was called off: the lock is still good.
        case .closing(let lock):
            state = .awake(lock: lock)
            actions = [.stopWaiting, .wakeUp]
            if lock != nil { return actions }
        case .asleep:
            state = .awake(lock: nil)
            actions = [.wakeUp]
        }
        guard !isAsking else { return actions }
        isAsking = true
        return actions + [.inhibit]
    }
}
