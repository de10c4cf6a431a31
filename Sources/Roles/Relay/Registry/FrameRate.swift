/// Counts the frames of one connection by the second.
struct FrameRate {
    enum Verdict: Equatable {
        case pass
        /// The first too many in this second: say so.
        case refuse
        /// The ones after it are dropped without a word.
        case drop
        /// It keeps sending: the connection ends.
        case close
    }

    /// So many times the limit in one second end the connection.
    static let flood = 10

    private var second: UInt64 = 0
    private var count = 0
    /// Over the limit, without what was charged.
    private var sent = 0
    private var hasRefused = false

    /// What was just counted costs that much more.
    mutating func charge(_ frames: Int) {
        count += frames
    }

    /// One more frame. `limit` 0 = none.
    mutating func count(at monotonic: UInt64, limit: Int) -> Verdict {
        guard limit > 0 else { return .pass }
        let now = monotonic / 1_000
        if now != second {
            second = now
            count = 0
            sent = 0
            hasRefused = false
        }
        count += 1
        if count <= limit { return .pass }
        sent += 1
        if sent > limit * (Self.flood - 1) { return .close }
        return refuse()
    }

    /// One that counts too many for another reason.
    mutating func refuse() -> Verdict {
        if hasRefused { return .drop }
        hasRefused = true
        return .refuse
    }
}

/// Counts for one network by the second or the minute, over all its connections.
struct NetworkRate {
    private var period: UInt64 = 0
    private var count = 0

    /// `count` more in this period. Returns whether they are within `limit`; 0 = none.
    mutating func count(_ added: Int, in period: UInt64, limit: Int) -> Bool {
        guard limit > 0 else { return true }
        if period != self.period {
            self.period = period
            count = 0
        }
        count += added
        return count <= limit
    }

    func hasCounted(in period: UInt64) -> Bool { count > 0 && period == self.period }
}
