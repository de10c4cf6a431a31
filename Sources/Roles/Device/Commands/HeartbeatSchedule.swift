/// When deployed desktops are due for a heartbeat (WireDeployedRequests, "Heartbeats").
///
/// A pure state machine; times are the loop's milliseconds. While no deployed desktop is connected it asks for no timer.
struct HeartbeatSchedule: Sendable {
    /// A deployed desktop forgets a device after three of these without a heartbeat.
    static let interval: UInt64 = 30_000

    /// When ``tick(isWanted:now:)`` is due; `nil` = never.
    private(set) var nextDeadline: UInt64?
    /// The last heartbeats, or the first connection. A connection that keeps breaking doesn't put them off.
    private var countedFrom: UInt64?

    /// A desktop may have connected or gone.
    ///
    /// - Parameter isWanted: a deployed desktop is connected.
    mutating func changed(isWanted: Bool, now: UInt64) {
        guard isWanted else { return nextDeadline = nil }
        guard nextDeadline == nil else { return }
        let start = countedFrom ?? now
        countedFrom = start
        nextDeadline = max(now, start &+ Self.interval)
    }

    /// `true` = send one to each deployed desktop that is connected.
    mutating func tick(isWanted: Bool, now: UInt64) -> Bool {
        guard isWanted, let due = nextDeadline else {
            nextDeadline = nil
            return false
        }
        guard due <= now else { return false }
        countedFrom = now
        nextDeadline = now &+ Self.interval
        return true
    }
}
