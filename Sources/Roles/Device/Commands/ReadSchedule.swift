import Wire

/// When deployed desktops are due for a read: after a start they know a device only by its commands, and heartbeats don't
/// register it (WireDeployedRequests, "Reads after a start").
///
/// A pure state machine; times are the loop's milliseconds.
struct ReadSchedule: Sendable {
    /// The pause after a desktop has come: what the device asks by itself registers it as well.
    static let delay: UInt64 = 2_000
    /// The longest time without a command. Not every relay says that a desktop has started again.
    static let interval: UInt64 = 120_000

    /// Of the deployed desktops that are connected.
    private var due: [PeerID: UInt64] = [:]

    /// When ``tick(now:)`` is due; `nil` = never.
    var nextDeadline: UInt64? { due.values.min() }

    /// - Parameter connected: the deployed desktops that are connected now.
    mutating func changed(_ connected: [PeerID], now: UInt64) {
        due = due.filter { connected.contains($0.key) }
        for desktop in connected where due[desktop] == nil { due[desktop] = now &+ Self.delay }
    }

    /// A relay reports that the desktop has connected: it may have started again.
    mutating func cameBack(_ desktop: PeerID, now: UInt64) {
        if let known = due[desktop] { due[desktop] = min(known, now &+ Self.delay) }
    }

    /// A command was sent.
    mutating func sent(to desktop: PeerID, now: UInt64) {
        if due[desktop] != nil { due[desktop] = now &+ Self.interval }
    }

    /// The desktops to send a read to.
    mutating func tick(now: UInt64) -> [PeerID] {
        let late = due.filter { $0.value <= now }.keys.sorted { $0.text < $1.text }
        for desktop in late { due[desktop] = now &+ Self.interval }
        return late
    }
}
