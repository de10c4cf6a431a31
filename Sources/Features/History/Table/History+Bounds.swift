import Listing
import Notifications
import Store
import Wire

// Commands that end at a row. Rows are numbered in the order in which this desktop stored them.
extension History {
    /// The newest of these that are here; `nil` = none is.
    func newestRow(of ids: [NotificationID]) throws(StoreError) -> Int64? {
        var newest: Int64?
        for id in ids {
            let row = try connection.integer(
                "SELECT ifnull(max(row), 0) FROM history WHERE id = ?", [.text(id.text)])
            if row > newest ?? 0 { newest = row }
        }
        return newest
    }

    /// The row of the newest push that was created at or before this time; 0 = no push is that old.
    func newestRow(createdBy moment: EpochMilliseconds) throws(StoreError) -> Int64 {
        let newest = HistoryRuns.each.map { "\($0) AND created_at <= ?1" }.joined(separator: " UNION ALL ")
        return try connection.first(
            "SELECT row FROM (\(newest) ORDER BY created_at DESC, row DESC LIMIT 1)", [.integer(moment)]
        ) { (row) throws(StoreError) in try row.integer(0) } ?? 0
    }

    func hasRows(after row: Int64) throws(StoreError) -> Bool {
        try connection.integer("SELECT EXISTS (SELECT 1 FROM history WHERE row > ?)", [.integer(row)]) != 0
    }

    /// Marks those through a row; gives those that were unread before, the newest first.
    func markAsRead(through last: Int64, at moment: EpochMilliseconds) throws(StoreError) -> [NotificationID] {
        let unread = "INDEXED BY history_facets WHERE \(Self.everyKind) AND read = 0 AND row <= ?"
        let ids = try connection.query(
            "SELECT id, created_at FROM history \(unread) ORDER BY created_at DESC, row DESC", [.integer(last)]
        ) { (row) throws(StoreError) in NotificationID(try row.text(0)) }
        guard !ids.isEmpty else { return [] }
        let counts = HistoryCounts(connection)
        var change = HistoryCounts.Change(tallied: try counts.stored().tallied)
        let marked = try connection.query(
            "UPDATE history SET read = 1, read_at = ? WHERE read = 0 AND row <= ? RETURNING row, \(HistoryCounts.Kind.columns)",
            [.integer(moment), .integer(last)]
        ) { (row) throws(StoreError) in (row: try row.integer(0), kind: try HistoryCounts.Kind(row, from: 1)) }
        for (row, kind) in marked {
            change.add(1, row, of: kind)
            change.add(-1, row, of: kind.with(read: false))
        }
        try counts.apply(change)
        return ids
    }

    /// What a clearing through a row took away.
    struct ClearedThrough {
        var count: Int64 = 0
        /// Everything created before this is gone; `nil` = nothing is.
        var before: EpochMilliseconds?
        /// Those that are gone as well: the clock was set back after them.
        var named: [NotificationID] = []
    }

    /// Deletes those through a row, while there are newer ones.
    func clear(through last: Int64) throws(StoreError) -> ClearedThrough {
        var cleared = ClearedThrough()
        let newest = try connection.first("SELECT max(created_at) FROM history WHERE row <= ?", [.integer(last)]) {
            (row) throws(StoreError) in try row.optionalInteger(0)
        }
        guard case .some(let newest?) = newest else { return cleared }
        let kept = try connection.integer(
            "SELECT ifnull(min(created_at), 9223372036854775807) FROM history WHERE row > ?", [.integer(last)])
        let before = min(newest &+ 1, kept)
        cleared.before = before
        cleared.named = try connection.query(
            """
            SELECT id FROM history WHERE row <= ? AND created_at >= ? ORDER BY created_at DESC, row DESC LIMIT ?
            """, [.integer(last), .integer(before), .integer(MethodHandler.idLimit)]
        ) { (row) throws(StoreError) in NotificationID(try row.text(0)) }
        let counts = HistoryCounts(connection)
        var change = HistoryCounts.Change(tallied: try counts.stored().tallied)
        // The index drops everything at once, and takes what stays in again.
        try TextIndexer(Self.text, connection).removeAll()
        cleared.count = Int64(try delete("row <= ?", .integer(last), counting: &change))
        try counts.apply(change)
        return cleared
    }
}
