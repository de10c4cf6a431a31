// MARK: The owner's wishes

extension RelaySessionStateMachine {
    package enum StartAction: Sendable, Equatable {
        case connect
        case none
    }

    /// Begins; nothing happens where it has begun already. While suspended it begins with ``resume()``.
    package mutating func start() -> StartAction {
        switch state {
        case .stopped:
            backoff.reset()
            guard !isSuspended else {
                state = .suspended
                return .none
            }
            state = .connecting
            return .connect
        case .suspended, .waiting, .connecting, .registering, .online: return .none
        }
    }

    package enum StopAction: Sendable, Equatable {
        case closeConnection
        case none
    }

    /// Ends, until the next ``start()``.
    package mutating func stop() -> StopAction {
        defer { state = .stopped }
        return hasConnection ? .closeConnection : .none
    }

    package enum ReconnectAction: Sendable, Equatable {
        case connect
        /// Give up the connection there is, and make a new one.
        case replaceConnection
        case none
    }

    /// Connects anew without a wait: the network has changed. A session that is stopped or suspended stays so.
    package mutating func reconnectNow() -> ReconnectAction {
        switch state {
        case .stopped, .suspended: return .none
        case .waiting:
            backoff.reset()
            state = .connecting
            return .connect
        case .connecting, .registering, .online:
            backoff.reset()
            state = .connecting
            return .replaceConnection
        }
    }

    /// The machine goes to sleep: closes the connection and forgets the registration, until ``resume()``.
    package mutating func suspend() -> StopAction {
        isSuspended = true
        if case .stopped = state { return .none }
        defer { state = .suspended }
        return hasConnection ? .closeConnection : .none
    }

    /// The machine has woken: a session that was started connects at once. Without a ``suspend()`` before it nothing
    /// happens.
    package mutating func resume() -> StartAction {
        isSuspended = false
        guard case .suspended = state else { return .none }
        backoff.reset()
        state = .connecting
        return .connect
    }

    private var hasConnection: Bool {
        switch state {
        case .stopped, .suspended, .waiting: false
        case .connecting, .registering, .online: true
        }
    }
}
