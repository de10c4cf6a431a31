/// When to ping, and when a silent peer is gone. Times are in milliseconds.
struct KeepaliveStateMachine {
    enum Action: Equatable {
        /// Send a ping, and tick again after this time.
        case ping(thenWait: UInt64)
        case wait(UInt64)
        /// The pong is missing.
        case end
    }

    private enum State {
        case idle
        case awaitingPong(sentAt: UInt64)
    }

    /// 0 = no pings.
    private let interval: UInt64
    private let timeout: UInt64
    private var state = State.idle

    init(interval: UInt64, timeout: UInt64) {
        self.interval = interval
        self.timeout = timeout
    }

    /// How long until the first tick; `nil` = never.
    var firstWait: UInt64? { interval == 0 ? nil : interval }

    /// The time of the last action is over.
    ///
    /// `isMoving` tells that a pong could not have come: bytes of a large message are still arriving in front of it, or
    /// our ping waits behind bytes that the peer is still taking. That is slow, not gone.
    mutating func tick(now: UInt64, isMoving: Bool) -> Action {
        switch state {
        case .idle:
            state = .awaitingPong(sentAt: now)
            return .ping(thenWait: timeout)
        case .awaitingPong: return isMoving ? .wait(timeout) : .end
        }
    }

    /// `nil` = it answers no ping of ours.
    mutating func pongReceived(now: UInt64) -> Action? {
        switch state {
        case .idle: return nil
        case .awaitingPong(let sentAt):
            state = .idle
            let passed = now >= sentAt ? now - sentAt : 0
            return .wait(interval > passed ? interval - passed : 1)
        }
    }
}
