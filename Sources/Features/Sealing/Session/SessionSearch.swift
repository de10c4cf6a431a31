/// What has been done about a session that is missing (WireSessions, "Limits").
///
/// The handshake, or the request for one, is repeated with longer and longer pauses until there is a session.
struct SessionSearch: Sendable {
    /// When to try again.
    private(set) var nextAt: UInt64
    /// Nothing has come about for long, although the other side seems to be there.
    private(set) var isUnanswered = false
    private let since: UInt64
    private let firstPause: UInt64
    private var pause: UInt64

    init(_ now: UInt64, pause: UInt64) {
        (since, nextAt) = (now, now)
        (firstPause, self.pause) = (pause, pause)
    }

    enum Cause: Sendable {
        /// The other side has just sent something: the pauses are short again.
        case heard
        case payload
        /// The last pause is over: the next one is longer.
        case due
    }

    mutating func tried(_ cause: Cause, _ now: UInt64) {
        switch cause {
        case .heard:
            pause = firstPause
            failed(now)
        case .payload: break
        case .due: pause = min(pause * 2, SessionLimits.longestSearch)
        }
        nextAt = now + pause
    }

    /// The other side is there, or should be, and there is no session.
    mutating func failed(_ now: UInt64) { if since + SessionLimits.patience <= now { isUnanswered = true } }
}

/// What a desktop has asked a device to cover with a tag.
struct HandshakeChallenge: Sendable {
    let nonce: [UInt8]
    let askedAt: UInt64
}
