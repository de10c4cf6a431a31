/// When the store was last told that a peer was there: at most once a minute for each peer.
///
/// A value of the peer's session. A lost write only shows an older time.
package struct LastSeen: Sendable, Equatable {
    /// Between two writes, in milliseconds.
    package static let interval: UInt64 = 60_000

    private var savedAt: UInt64?

    package init() {}

    /// The peer was heard, at a moment of the loop's time: is it to be saved?
    ///
    /// - Parameter always: something else of the peer's row has changed, so that it is written in any case.
    package mutating func isDue(at now: UInt64, always: Bool = false) -> Bool {
        if let savedAt, !always, now &- savedAt < Self.interval { return false }
        savedAt = now
        return true
    }
}
