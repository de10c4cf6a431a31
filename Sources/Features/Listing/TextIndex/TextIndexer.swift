package import Store

/// Keeps a ``TextIndex`` in small steps, the newest rows first, so that no push and no search waits for it.
///
/// Made for one piece of work on the store, over its connection. Whoever stores rows does nothing for the index: rows that
/// are in no range wait for a step. Whoever takes rows out, or changes their text, leaves the indexed text in `t_gone`, or
/// calls ``remove(_:)`` before. ``IndexSchedule`` says when to step.
package struct TextIndexer {
    package enum Progress: Sendable, Equatable {
        /// There is more to do: another step.
        case more
        /// The index has everything.
        case done
    }

    /// What one step takes at most: about a millisecond of work.
    package static let stepRows = 64
    private static let stepBytes: Int64 = 16_384
    private static let mergePages: Int64 = 16
    /// What a search brings into the index by itself.
    private static let searchRows = 512
    private static let searchBytes: Int64 = 131_072

    private let index: TextIndex
    private let connection: Connection

    package init(_ index: TextIndex, _ connection: Connection) { (self.index, self.connection) = (index, connection) }

    /// One step of the work in the background.
    package func step() throws(StoreError) -> Progress {
        if try merge() { return .more }
        if try removeGone(Self.stepRows) { return .more }
        return try add(Self.stepRows, Self.stepBytes) ? .more : .done
    }

    /// Before a search: brings the newest rows in, as far as that takes a few milliseconds. Gives whether the index has
    /// everything now; else the oldest are missing, and the search has to say so.
    package func catchUp() throws(StoreError) -> Bool {
        _ = try removeGone(Self.stepRows)
        _ = try add(Self.searchRows, Self.searchBytes)
        return try isComplete()
    }

    /// Whether searches have to leave out what ``TextIndex/isGone`` names.
    package func hasGone() throws(StoreError) -> Bool { try connection.integer(index.sql.hasGone) != 0 }

    /// Whether every row is in the index, with the text that it has now.
    package func isComplete() throws(StoreError) -> Bool {
        let newest = try connection.integer(index.sql.newest)
        guard newest > 0 else { return true }
        let ranges = try ranges()
        guard ranges.count == 1, let only = ranges.first, only.low <= 1, only.high >= newest else { return false }
        return try !hasGone()
    }

    /// Takes a row's text out at once, before the row itself goes: who deletes a text wants it gone.
    package func remove(_ row: Int64) throws(StoreError) {
        guard
            try connection.integer("SELECT \(index.contains("?1"))", [.integer(row)]) != 0
        else { return }
        try connection.execute(index.sql.deleteOne, [.integer(row)])
    }

    /// All rows are being taken out.
    package func removeAll() throws(StoreError) {
        try connection.executeScript("INSERT INTO \(index.table)_text(\(index.table)_text) VALUES ('delete-all')")
        try connection.execute(index.sql.forgetAll)
        try connection.execute(index.sql.forgetRanges)
    }

    // MARK: Steps

    private struct Range {
        var low: Int64
        var high: Int64
    }

    /// The two newest.
    private func ranges() throws(StoreError) -> [Range] {
        try connection.query(index.sql.ranges) { (row) throws(StoreError) in
            Range(low: try row.integer(0), high: try row.integer(1))
        }
    }

    /// Indexes rows of the newest gap, from its upper end. False when there is none.
    private func add(_ limit: Int, _ byteLimit: Int64) throws(StoreError) -> Bool {
        let newest = try connection.integer(index.sql.newest)
        let ranges = try ranges()
        // The gap, and its neighbours.
        var gap = Range(low: 1, high: newest)
        var above: Range?
        var below: Range?
        if let last = ranges.first {
            if last.high < newest {
                gap.low = last.high + 1
                below = last
            } else {
                gap.high = last.low - 1
                above = last
                below = ranges.dropFirst().first
                gap.low = below.map { $0.high + 1 } ?? 1
            }
        }
        guard gap.high >= gap.low else { return false }
        let found = try connection.query(
            index.sql.gap, [.integer(gap.low), .integer(gap.high), .integer(limit)]
        ) { (row) throws(StoreError) in (row: try row.integer(0), bytes: try row.integer(1)) }
        var bytes: Int64 = 0
        let taken = found.prefix { row in
            defer { bytes &+= row.bytes }
            return bytes == 0 || bytes &+ row.bytes <= byteLimit
        }
        let isWhole = taken.count == found.count && found.count < limit
        var range = Range(low: isWhole ? gap.low : taken.last?.row ?? gap.low, high: gap.high)
        if !taken.isEmpty {
            try connection.execute(index.sql.insert, [.integer(range.low), .integer(range.high)])
        }
        if let above { range.high = above.high }
        // Also when the last row that was taken is the gap's lowest.
        if range.low == gap.low, let below { range.low = below.low }
        try connection.execute(index.sql.join, [.integer(range.low), .integer(range.high)])
        try connection.execute(index.sql.addRange, [.integer(range.low), .integer(range.high)])
        return true
    }

    /// False when there was nothing to remove.
    private func removeGone(_ limit: Int) throws(StoreError) -> Bool {
        guard try hasGone() else { return false }
        let limit = [Value.integer(limit)]
        try connection.execute(index.sql.removeGone, limit)
        try connection.execute(index.sql.reindexGone, limit)
        try connection.execute(index.sql.forgetGone, limit)
        return true
    }

    /// Merges a few pages of the index's segments, where there are so many that searches would suffer. False when there
    /// was nothing to merge: FTS5 counts that as one change.
    private func merge() throws(StoreError) -> Bool {
        let before = try connection.integer("SELECT total_changes()")
        try connection.execute(index.sql.merge, [.integer(Self.mergePages)])
        return try connection.integer("SELECT total_changes()") - before > 1
    }
}
