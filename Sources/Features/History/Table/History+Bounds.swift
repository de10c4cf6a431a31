import Delivery
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

    /// Marks these; gives those that were unread before, the newest first.
    func markAsRead(_ extent: HistoryExtent, at moment: EpochMilliseconds) throws(StoreError) -> [NotificationID] {
        let concerned = HistoryExtent.contains("row")
        let unread = "INDEXED BY history_facets WHERE \(Self.everyKind) AND read = 0 AND \(concerned)"
        let ids = try connection.query(
            "SELECT id, created_at FROM history \(unread) ORDER BY created_at DESC, row DESC", extent.values
        ) { (row) throws(StoreError) in NotificationID(try row.text(0)) }
        guard !ids.isEmpty else { return [] }
        let counts = HistoryCounts(connection)
        var change = HistoryCounts.Change(tallied: try counts.stored().tallied)
        let marked = try connection.query(
            """
            UPDATE history SET read = 1, read_at = ?3 WHERE read = 0 AND \(concerned)
            RETURNING row, \(HistoryCounts.Kind.columns)
            """, extent.values + [.integer(moment)]
        ) { (row) throws(StoreError) in (row: try row.integer(0), kind: try HistoryCounts.Kind(row, from: 1)) }
        for (row, kind) in marked {
            change.add(1, row, of: kind)
            change.add(-1, row, of: kind.with(read: false))
        }
        try counts.apply(change)
        return ids
    }

    /// What a clearing of an extent took away.
    struct ClearedThrough {
        var count: Int64 = 0
        /// Everything created before this is gone; `nil` = nothing is.
        var before: EpochMilliseconds?
        /// Those that are gone as well: the clock was set back after them.
        var named: [NotificationID] = []
    }

    /// Deletes these, while there are others.
    func clear(_ extent: HistoryExtent) throws(StoreError) -> ClearedThrough {
        var cleared = ClearedThrough()
        let concerned = HistoryExtent.contains("row")
        let newest = try connection.first("SELECT max(created_at) FROM history WHERE \(concerned)", extent.values) {
            (row) throws(StoreError) in try row.optionalInteger(0)
        }
        guard case .some(let newest?) = newest else { return cleared }
        let kept = try connection.integer(
            """
            SELECT ifnull(min(created_at), 9223372036854775807) FROM history WHERE \(HistoryExtent.leavesOut("row"))
            """, extent.values)
        let before = min(newest &+ 1, kept)
        cleared.before = before
        cleared.named = try connection.query(
            """
            SELECT id FROM history WHERE \(concerned) AND created_at >= ?3 ORDER BY created_at DESC, row DESC LIMIT ?4
            """, extent.values + [.integer(before), .integer(MethodHandler.idLimit)]
        ) { (row) throws(StoreError) in NotificationID(try row.text(0)) }
        let counts = HistoryCounts(connection)
        var change = HistoryCounts.Change(tallied: try counts.stored().tallied)
        // The index drops everything at once, and takes what stays in again.
        try TextIndexer(Self.text, connection).removeAll()
        cleared.count = Int64(try delete(concerned, extent.values, counting: &change))
        try counts.apply(change)
        return cleared
    }
}
