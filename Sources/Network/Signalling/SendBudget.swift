/// Keeps what we send to a relay below its limit (WireDeployedRelays, "Limits").
///
/// One relay closes a connection that sends more than 120 frames or 4 MiB in 10 s, and drops what came after those. The
/// budget allows 110 units in any 10 s; a unit is a frame, or 32 KiB of a longer one. The rest is for pings and probes.
///
/// Pure; times are monotonic milliseconds.
package struct SendBudget: Sendable, Equatable {
    /// What may leave at once after a pause.
    package static let burst: UInt64 = 60
    /// The time in which one unit is earned again, in milliseconds.
    package static let unitTime: UInt64 = 200
    /// The bytes of one unit.
    package static let unitBytes = 32 << 10
    /// The codes by which the relay shows that it has the limit.
    private static let codes: Set<String> = ["OVERLOADED", "REGISTRATION_REQUIRED"]

    /// Whether the relay is known to have the limit.
    package private(set) var isLimited = false
    /// When everything is earned again.
    private var restoredAt: UInt64 = 0

    /// Called for a new connection: whether the relay has the limit is found out again.
    mutating func forget() { isLimited = false }

    mutating func refused(_ code: String?) { if let code, Self.codes.contains(code) { isLimited = true } }

    /// Whether a frame of that size may leave now, and if so, pays for it. A frame that costs more than a burst leaves
    /// after a pause.
    ///
    /// - Parameter isUndecided: whether the relay may turn out to have the limit.
    mutating func take(_ bytes: Int, isUndecided: Bool, now: UInt64) -> Bool {
        let cost = min(1 + UInt64(max(0, bytes) / Self.unitBytes), Self.burst) * Self.unitTime
        let restored = max(restoredAt, now).advanced(by: cost)
        guard restored <= now.advanced(by: Self.burst * Self.unitTime) else {
            if isLimited || isUndecided { return false }
            // Only what was sent before the relay is known counts.
            restoredAt = now.advanced(by: Self.burst * Self.unitTime)
            return true
        }
        restoredAt = restored
        return true
    }
}
