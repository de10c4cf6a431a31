import Listing
package import Notifications
package import Store
package import Wire

/// Every notification of this desktop: the source of truth for all devices.
///
/// Made for one piece of work on the store, over its connection.
package struct History {
    let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    /// - Parameter target: the one device that it is for; `nil` for all.
    package func insert(_ notification: Notification, icon: String?, target: PeerID?) throws(StoreError) {
        try connection.execute(
            """
            INSERT INTO history(icon, target, search, \(StoredNotification.columns))
            VALUES (?, ?, ?, \(StoredNotification.placeholders))
            """,
            [
                .optional(icon), .optional(target?.text),
                .optional(SearchText.of(title: notification.title, body: notification.body)),
            ] + StoredNotification.values(notification))
        if connection.lastInsertRow % History.indexedTogether == 0 { try indexText() }
    }

    /// Marks one; gives how many were unread before: 1, or 0 when it was read or is not there.
    package func markAsRead(_ id: NotificationID, at moment: EpochMilliseconds) throws(StoreError) -> Int {
        try connection.execute(
            "UPDATE history SET read = 1, read_at = ? WHERE id = ? AND read = 0", [.integer(moment), .text(id.text)])
    }

    /// Marks all; gives those that were unread before, the newest first.
    package func markAllAsRead(at moment: EpochMilliseconds) throws(StoreError) -> [NotificationID] {
        let ids = try connection.query("SELECT id FROM history WHERE read = 0 ORDER BY created_at DESC, row DESC") {
            (row) throws(StoreError) in NotificationID(try row.text(0))
        }
        guard !ids.isEmpty else { return [] }
        // All counts are known beforehand: a trigger would move them one by one.
        try connection.executeScript("DROP TRIGGER history_moved")
        try connection.execute("UPDATE history SET read = 1, read_at = ? WHERE read = 0", [.integer(moment)])
        try connection.executeScript(
            """
            UPDATE history_count SET unread = 0;
            INSERT INTO history_tally SELECT day, source, priority, 1, n FROM history_tally WHERE read = 0
                ON CONFLICT DO UPDATE SET n = n + excluded.n;
            DELETE FROM history_tally WHERE read = 0;
            \(History.movedTrigger)
            """)
        return ids
    }

    /// Takes one out; gives how many that were: 1, or 0 when it is not there.
    package func delete(_ id: NotificationID) throws(StoreError) -> Int {
        let value = Value.text(id.text)
        // At once, not later with others: who deletes a text wants it gone.
        try connection.execute(
            """
            INSERT INTO history_text(history_text, rowid, title, body, search)
                SELECT 'delete', row, title, body, search FROM history
                WHERE id = ? AND row <= (SELECT through FROM history_indexed)
            """, [value])
        return try connection.execute("DELETE FROM history WHERE id = ?", [value])
    }

    /// What a clearing took away.
    package struct Cleared: Sendable, Equatable {
        package let count: Int64
        /// When the youngest of them was created; `nil` when there was none.
        package let newest: EpochMilliseconds?
    }

    /// Takes everything out.
    package func clear() throws(StoreError) -> Cleared {
        let newest = try connection.first("SELECT max(created_at) FROM history") {
            (row) throws(StoreError) in try row.optionalInteger(0)
        }
        let count = try total()
        guard count > 0 else { return Cleared(count: 0, newest: nil) }
        // Row by row, a trigger and the index of the text would be served in vain.
        try connection.executeScript(
            """
            DROP TRIGGER history_left;
            DELETE FROM history;
            DELETE FROM history_tally;
            DELETE FROM history_gone;
            UPDATE history_count SET total = 0, unread = 0;
            INSERT INTO history_text(history_text) VALUES ('delete-all');
            \(History.leftTrigger)
            """)
        return Cleared(count: count, newest: newest ?? nil)
    }

    /// Takes out what is older, or more, than the settings let the history keep. Gives how many.
    @discardableResult
    package func prune(_ settings: DesktopSettings, now: EpochMilliseconds) throws(StoreError) -> Int {
        var pruned = 0
        if settings.retentionDays > 0 {
            let oldest = now.subtractingReportingOverflow(settings.retentionDays &* History.dayLength)
            if !oldest.overflow {
                pruned += try removeOld("created_at < ?", .integer(oldest.partialValue))
            }
        }
        let excess = try total() &- settings.retentionRows
        if settings.retentionRows > 0, excess > 0 {
            pruned += try removeOld(
                "row IN (SELECT row FROM history ORDER BY created_at, row LIMIT ?)", .integer(excess))
        }
        if pruned > 0 { try connection.execute("DELETE FROM history_tally WHERE n = 0") }
        return pruned
    }

    /// Full text is indexed when it is searched, and at every so many rows: FTS5 writes a segment for each piece of work,
    /// and one for each row would cost ten times what the row itself does.
    private static let indexedTogether: Int64 = 256

    /// Brings the index of the text up to date.
    func indexText() throws(StoreError) {
        try connection.execute(
            """
            INSERT INTO history_text(history_text, rowid, title, body, search)
                SELECT 'delete', row, title, body, search FROM history_gone
            """)
        try connection.execute("DELETE FROM history_gone")
        try connection.execute(
            """
            INSERT INTO history_text(rowid, title, body, search)
                SELECT row, title, body, search FROM history
                WHERE row > (SELECT through FROM history_indexed) ORDER BY row
            """)
        try connection.execute(
            "UPDATE history_indexed SET through = max(through, ifnull((SELECT max(row) FROM history), 0))")
    }

    /// Takes old rows out; the index of their text follows later. Gives how many. The condition names rows by an index: the
    /// plus keeps SQLite from walking through all rows instead.
    private func removeOld(_ condition: String, _ value: Value) throws(StoreError) -> Int {
        try connection.execute(
            """
            INSERT INTO history_gone SELECT row, title, body, search FROM history
                WHERE \(condition) AND +row <= (SELECT through FROM history_indexed)
            """, [value])
        return try connection.execute("DELETE FROM history WHERE \(condition)", [value])
    }

    package func unreadCount() throws(StoreError) -> Int64 { try counts().unread }

    package func total() throws(StoreError) -> Int64 { try counts().total }

    static let dayLength: Int64 = 86_400_000

    func counts() throws(StoreError) -> (total: Int64, unread: Int64) {
        let counts = try connection.first("SELECT total, unread FROM history_count") { (row) throws(StoreError) in
            (total: try row.integer(0), unread: try row.integer(1))
        }
        guard let counts else { throw StoreError(.corrupt, "the history has lost its counts") }
        return counts
    }
}
