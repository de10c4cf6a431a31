/// Alerts that wait in the store because too many are on their way already.
struct Backlog {
    /// Pause before the store is asked again, in milliseconds.
    static let shortPause: UInt64 = 200
    /// The same after the store failed.
    static let longPause: UInt64 = 30_000

    /// Some wait, as far as is known.
    private(set) var isPending = false
    private var isReading = false
    /// More were stored while the store was being read.
    private var readsAgain = false
    /// Rows whose runs ended while the store was being read: what was read of them is outdated.
    private var endedMeanwhile: Set<Int64> = []
    private var pause = Backlog.shortPause

    /// Something waits. Returns whether the store is to be read now.
    mutating func request(hasRoom: Bool) -> Bool {
        isPending = true
        if isReading { readsAgain = true }
        guard !isReading, hasRoom else { return false }
        isReading = true
        return true
    }

    mutating func runEnded(_ row: Int64) { if isReading { endedMeanwhile.insert(row) } }

    struct Read {
        let endedMeanwhile: Set<Int64>
        let readsAgain: Bool
    }

    mutating func readEnded() -> Read {
        defer { (isReading, readsAgain, endedMeanwhile) = (false, false, []) }
        return Read(endedMeanwhile: endedMeanwhile, readsAgain: readsAgain)
    }

    /// Returns the pause before the next read, if one is needed.
    mutating func settle(isPending: Bool) -> UInt64 {
        self.isPending = isPending
        defer { pause = Self.shortPause }
        return pause
    }

    mutating func storeFailed() { (isPending, pause) = (true, Self.longPause) }
}
