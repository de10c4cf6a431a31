/// How many handshakes, or statements of a move, a peer may cause: so many at once, then one in each interval.
package struct HandshakeBudget: Sendable {
    private let interval: UInt64
    private let capacity: UInt64
    /// In milliseconds: one handshake takes an interval.
    private var level: UInt64
    private var filledAt: UInt64?

    package init(burst: Int, interval: UInt64) {
        self.interval = max(1, interval)
        capacity = UInt64(max(1, burst)) * self.interval
        level = capacity
    }

    package mutating func take(now: UInt64) -> Bool {
        if let filledAt, now > filledAt {
            level = min(capacity, level + min(now - filledAt, capacity))
        }
        filledAt = max(filledAt ?? now, now)
        guard level >= interval else { return false }
        level -= interval
        return true
    }

    /// When the next one may be taken, after one was refused.
    func filled(after now: UInt64) -> UInt64 { now + (interval - min(level, interval)) }
}
