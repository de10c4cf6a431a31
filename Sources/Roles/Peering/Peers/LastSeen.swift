/// Throttles last-seen writes to one per minute and peer.
///
/// Kept in the peer's session. A lost write only means an older time.
package struct LastSeen: Sendable, Equatable {
    /// Minimum time between two writes, in milliseconds.
    package static let interval: UInt64 = 60_000

    private var savedAt: UInt64?

    package init() {}

    /// The peer was heard at this moment of the loop's time. Returns whether to save it.
    ///
    /// - Parameter always: another column of the peer's row has changed, so it is written anyway.
    package mutating func isDue(at now: UInt64, always: Bool = false) -> Bool {
        if let savedAt, !always, now &- savedAt < Self.interval { return false }
        savedAt = now
        return true
    }
}
