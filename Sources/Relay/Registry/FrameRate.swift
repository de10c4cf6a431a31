/// Counts the frames of one connection by the second.
struct FrameRate {
    enum Verdict: Equatable {
        case pass
        /// The first too many in this second: say so.
        case refuse
        /// The ones after it are dropped without a word.
        case drop
    }

    private var second: UInt64 = 0
    private var count = 0
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
            hasRefused = false
        }
        count += 1
        if count <= limit { return .pass }
        if hasRefused { return .drop }
        hasRefused = true
        return .refuse
    }
}
