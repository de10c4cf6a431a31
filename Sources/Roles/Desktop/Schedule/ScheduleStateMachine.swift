import Wire

/// When to look for pushes whose time has come. Pure; `now` is the wall clock's time, which may jump either way.
///
/// One look is under way at a time, and its pushes are executed before the next one. The table decides what is due: a
/// clock that was set past a moment makes it due at once, and one that was set back makes it wait again.
struct ScheduleStateMachine: ~Copyable {
    enum Action: Equatable {
        case none
        /// Read what is due.
        case look
        /// Look again at this moment, or when the clock is set; `nil` = nothing waits.
        case arm(EpochMilliseconds?)
    }

    private enum State {
        case stopped
        case waiting
        /// The table is being read. `isStale`: something was added meanwhile.
        case looking(isStale: Bool)
        /// So many pushes are under way.
        case executing(Int)
    }

    /// After the store has failed, in milliseconds.
    static let retryInterval: Int64 = 30_000

    private var state = State.stopped
    /// A look that was begun before a stop is not this one.
    private(set) var look: UInt64 = 0

    mutating func start() -> Action {
        guard case .stopped = state else { return .none }
        return begin()
    }

    mutating func stop() { state = .stopped }

    /// The timer has fired, a push was scheduled, or the clock was set.
    mutating func changed() -> Action {
        switch state {
        case .stopped, .executing: return .none
        case .waiting: return begin()
        case .looking:
            state = .looking(isStale: true)
            return .none
        }
    }

    /// The table was read: so many pushes are due now, and the next one then.
    mutating func found(_ due: Int, next: EpochMilliseconds?, in look: UInt64) -> Action {
        guard case .looking(let isStale) = state, look == self.look else { return .none }
        guard due == 0 else {
            state = .executing(due)
            return .none
        }
        if isStale { return begin() }
        state = .waiting
        return .arm(next)
    }

    mutating func failed(in look: UInt64, now: EpochMilliseconds) -> Action {
        guard case .looking = state, look == self.look else { return .none }
        state = .waiting
        return .arm(now &+ Self.retryInterval)
    }

    /// One of the due pushes was pushed, or was withdrawn. `hasFailed`: the store could not take it out of the table.
    mutating func executed(hasFailed: Bool, now: EpochMilliseconds) -> Action {
        guard case .executing(let count) = state else { return .none }
        if hasFailed {
            state = .waiting
            return .arm(now &+ Self.retryInterval)
        }
        guard count <= 1 else {
            state = .executing(count - 1)
            return .none
        }
        return begin()
    }

    private mutating func begin() -> Action {
        look &+= 1
        state = .looking(isStale: false)
        return .look
    }
}
