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
        /// `overdue` = how often the time was over already, each time with a look at what the kernel holds after it.
        case awaitingPong(sentAt: UInt64, overdue: Int)
    }

    /// So often the kernel is looked at after the time is over. Where both ends live in one process that was held up, the
    /// first look finds the ping, and the next one the pong.
    static let looks = 3

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
    /// `isMoving`: the peer's bytes still arrive, and its pong may be behind them; or it still reads ours, and the ping may
    /// be behind them. That is a slow peer, or a slow machine, and not a dead connection.
    mutating func tick(now: UInt64, isMoving: Bool) -> Action {
        switch state {
        case .idle:
            state = .awaitingPong(sentAt: now, overdue: 0)
            return .ping(thenWait: timeout)
        case .awaitingPong(let sentAt, let overdue):
            if isMoving {
                state = .awaitingPong(sentAt: sentAt, overdue: 0)
                return .wait(timeout)
            }
            if overdue >= Self.looks { return .end }
            // After a sleep of the machine timers come before sockets, and the pong may be there.
            state = .awaitingPong(sentAt: sentAt, overdue: overdue + 1)
            return .wait(1)
        }
    }

    /// `nil` = it answers no ping of ours.
    mutating func pongReceived(now: UInt64) -> Action? {
        switch state {
        case .idle: return nil
        case .awaitingPong(let sentAt, _):
            state = .idle
            let passed = now >= sentAt ? now - sentAt : 0
            return .wait(interval > passed ? interval - passed : 1)
        }
    }
}
