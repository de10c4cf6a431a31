/// How many handshakes a peer may cost in a minute: a bucket that fills evenly.
struct HandshakeBudget: Sendable {
    private let limit: UInt64
    /// In minutes · 60,000, so that whole milliseconds fill it.
    private var level: UInt64
    private var filledAt: UInt64?

    init(perMinute: Int) {
        limit = UInt64(max(1, perMinute))
        level = limit * 60_000
    }

    mutating func take(now: UInt64) -> Bool {
        if let filledAt, now > filledAt {
            let elapsed = min(now - filledAt, 60_000)
            level = min(limit * 60_000, level + elapsed * limit)
        }
        filledAt = max(filledAt ?? now, now)
        guard level >= 60_000 else { return false }
        level -= 60_000
        return true
    }
}
