package import Delivery
package import Listing
package import Notifications
package import Store
package import Wire

/// Every notification of this desktop: the source of truth for all devices.
///
/// Made for one piece of work on the store, over its connection.
package struct History {
    let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    /// Keeps a notification, as a piece of work of its own; pushes go through a ``HistoryWork``.
    ///
    /// - Parameter target: the one device that it is for; `nil` for all.
    package func insert(_ notification: Notification, icon: String?, target: PeerID?) throws(StoreError) {
        let counts = HistoryCounts(connection)
        let stored = try counts.stored()
        let row = stored.last &+ 1
        try insertRow(row, notification, icon: icon, target: target)
        var change = HistoryCounts.Change(tallied: stored.tallied)
        change.add(notification)
        try counts.apply(change, last: row)
    }

    /// The row alone, without its count. The index of the text takes it in later.
    func insertRow(
        _ row: Int64, _ notification: Notification, icon: String?, target: PeerID?
    ) throws(StoreError) {
        try connection.execute(
            Self.insertion,
            [
                .integer(row), .optional(icon), .optional(target?.text),
                .optional(SearchText.of(title: notification.title, body: notification.body)),
            ] + StoredNotification.values(notification))
    }

    private static let insertion = """
        INSERT INTO history(row, icon, target, search, \(StoredNotification.columns))
        VALUES (?, ?, ?, ?, \(StoredNotification.placeholders))
        """

    /// A device has another key: a push to it alone replaces those that were sent under the old id (WireRekey, "Switch").
    package func moveTarget(_ old: PeerID, to new: PeerID) throws(StoreError) {
        try connection.execute(
            "UPDATE history SET target = ? WHERE target = ? AND collapse_key IS NOT NULL",
            [.text(new.text), .text(old.text)])
    }

    /// Marks one; gives how many were unread before: 1, or 0 when it was read or is not there.
    package func markAsRead(_ id: NotificationID, at moment: EpochMilliseconds) throws(StoreError) -> Int {
        let counts = HistoryCounts(connection)
        var change = HistoryCounts.Change(tallied: try counts.stored().tallied)
        let marked = try connection.query(
            """
            UPDATE history SET read = 1, read_at = ? WHERE id = ? AND read = 0
            RETURNING row, \(HistoryCounts.Kind.columns)
            """, [.integer(moment), .text(id.text)]
        ) { (row) throws(StoreError) in (row: try row.integer(0), kind: try HistoryCounts.Kind(row, from: 1)) }
        for (row, kind) in marked {
            change.add(1, row, of: kind)
            change.add(-1, row, of: kind.with(read: false))
        }
        try counts.apply(change)
        return marked.count
    }

    /// Marks all, or those of an extent; gives those that were unread before, the newest first.
    package func markAllAsRead(
        at moment: EpochMilliseconds, _ extent: HistoryExtent? = nil
    ) throws(StoreError) -> [NotificationID] {
        if let extent { return try markAsRead(extent, at: moment) }
        let unread = "INDEXED BY history_facets WHERE \(Self.everyKind) AND read = 0"
        let ids = try connection.query(
            "SELECT id, created_at FROM history \(unread) ORDER BY created_at DESC, row DESC"
        ) {
            (row) throws(StoreError) in NotificationID(try row.text(0))
        }
        guard !ids.isEmpty else { return [] }
        try connection.execute(
            "UPDATE history INDEXED BY history_facets SET read = 1, read_at = ? WHERE \(Self.everyKind) AND read = 0",
            [.integer(moment)])
        try HistoryCounts(connection).allRead()
        return ids
    }

    /// A condition that is always true, and leads along `history_facets` to what it orders by.
    static let everyKind: String = {
        let sources = NotificationSource.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        let priorities = Priority.allCases.map { "\($0.rawValue)" }.joined(separator: ", ")
        return "source IN (\(sources)) AND priority IN (\(priorities))"
    }()

    /// Takes one out; gives how many that were: 1, or 0 when it is not there.
    package func delete(_ id: NotificationID) throws(StoreError) -> Int {
        let row = try connection.first("SELECT row FROM history WHERE id = ?", [.text(id.text)]) {
            (row) throws(StoreError) in try row.integer(0)
        }
        guard let row else { return 0 }
        // At once, not later with others: who deletes a text wants it gone.
        try TextIndexer(Self.text, connection).remove(row)
        let counts = HistoryCounts(connection)
        var change = HistoryCounts.Change(tallied: try counts.stored().tallied)
        let deleted = try delete("row = ?", [.integer(row)], counting: &change)
        try counts.apply(change)
        return deleted
    }

    /// What a clearing took away.
    package struct Cleared: Sendable, Equatable {
        package let count: Int64
        /// When the youngest of them was created; `nil` when there was none.
        package let newest: EpochMilliseconds?
    }

    /// Takes everything out.
    package func clear() throws(StoreError) -> Cleared {
        let newest = try connection.first("SELECT created_at FROM (\(HistoryRuns.all("created_at DESC")) LIMIT 1)") {
            (row) throws(StoreError) in try row.integer(0)
        }
        let count = try total()
        guard count > 0 else { return Cleared(count: 0, newest: nil) }
        try connection.execute("DELETE FROM history")
        try TextIndexer(Self.text, connection).removeAll()
        try HistoryCounts(connection).clear()
        return Cleared(count: count, newest: newest)
    }

    // MARK: Retention

    /// Takes out what is older, or more, than the settings let the history keep. Gives how many.
    @discardableResult
    package func prune(_ settings: DesktopSettings, now: EpochMilliseconds) throws(StoreError) -> Int {
        try prune(settings, now: now, try HistoryCounts(connection).stored(), slack: 0).pruned
    }

    /// - Parameter slack: rows that may be too many, so that not every push takes one out.
    func prune(
        _ settings: DesktopSettings, now: EpochMilliseconds, _ stored: HistoryCounts.Stored, slack: Int64
    ) throws(StoreError) -> (pruned: Int, totals: HistoryCounts.Totals) {
        var change = HistoryCounts.Change(tallied: stored.tallied)
        var pruned = 0
        if settings.retentionDays > 0 {
            let oldest = now.subtractingReportingOverflow(settings.retentionDays &* History.dayLength)
            // One look, for the many times when there is nothing to let go.
            if !oldest.overflow, try isAny(before: oldest.partialValue) {
                pruned += try letGo(
                    "row IN (SELECT row FROM history INDEXED BY history_facets WHERE \(Self.before))",
                    .integer(oldest.partialValue), counting: &change)
            }
        }
        let excess = stored.totals.total &- Int64(pruned) &- settings.retentionRows
        if settings.retentionRows > 0, excess > slack {
            pruned += try letGo(
                "row IN (SELECT row FROM (\(HistoryRuns.all("created_at, row")) LIMIT ?))", .integer(excess),
                counting: &change)
        }
        guard pruned > 0 else { return (0, stored.totals) }
        return (pruned, try HistoryCounts(connection).apply(change).totals)
    }

    private static let before = "\(everyKind) AND read IN (0, 1) AND created_at < ?"

    private func isAny(before moment: EpochMilliseconds) throws(StoreError) -> Bool {
        try connection.integer(Self.anyBefore, [.integer(moment)]) != 0
    }

    /// One look at the end of each run. Lists of values would make SQLite build a table of each.
    private static let anyBefore =
        "SELECT "
        + HistoryRuns.each.map { "EXISTS (\($0) AND created_at < ?1)" }.joined(separator: " OR ")

    /// Takes rows out that devices may still wait for; the index of their text follows later. Gives how many. The
    /// condition names rows by an index.
    @discardableResult
    func letGo(
        _ condition: String, _ value: Value, counting change: inout HistoryCounts.Change
    ) throws(StoreError) -> Int {
        try Outbox(connection).release("SELECT row FROM history WHERE \(condition)", [value])
        try connection.execute(
            """
            INSERT INTO history_gone SELECT row, title, body, search FROM history
                WHERE \(condition) AND \(Self.text.contains("+row"))
            """, [value])
        return try delete(condition, [value], counting: &change)
    }

    func delete(
        _ condition: String, _ values: [Value], counting change: inout HistoryCounts.Change
    ) throws(StoreError) -> Int {
        let deleted = try connection.query(
            "DELETE FROM history WHERE \(condition) RETURNING row, \(HistoryCounts.Kind.columns)", values
        ) { (row) throws(StoreError) in (row: try row.integer(0), kind: try HistoryCounts.Kind(row, from: 1)) }
        for (row, kind) in deleted { change.add(-1, row, of: kind) }
        return deleted.count
    }

    // MARK: Text

    /// The index of titles and bodies; who owns the store's timer steps it (``TextIndexer/step()``).
    package static let text = TextIndex("history")

    package func unreadCount() throws(StoreError) -> Int64 { try counts().unread }

    package func total() throws(StoreError) -> Int64 { try counts().total }

    static let dayLength: Int64 = 86_400_000

    func counts() throws(StoreError) -> (total: Int64, unread: Int64) {
        let totals = try HistoryCounts(connection).totals()
        return (totals.total, totals.unread)
    }
}
