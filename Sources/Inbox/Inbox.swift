import Listing
package import Notifications
package import Store
package import Wire

/// The history as the device knows it: one row for each notification of each desktop.
///
/// Made for one piece of work on the store, over its connection.
package struct Inbox {
    let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    /// A row with its place.
    package struct Entry: Sendable, Equatable {
        /// Counts up in the order of arrival; never used twice.
        package let row: Int64
        package let desktop: PeerID
        package let notification: Notification
        /// The process died while it was being handed over.
        package let redelivered: Bool
    }

    package enum Insertion: Sendable, Equatable {
        case inserted(row: Int64)
        /// This desktop's notification is here already. Nothing has changed.
        case duplicate
    }

    /// Keeps a push that has come; it waits to be handed to the host.
    ///
    /// A row that the history brought before it becomes a push by it: the host has not had it yet (`protocol.md` 4.4).
    package func insert(_ notification: Notification, from desktop: PeerID) throws(StoreError) -> Insertion {
        let insertion = try insert(notification, from: desktop, handed: .waiting, pushed: true)
        let row: Int64
        switch insertion {
        case .inserted(let inserted): row = inserted
        case .duplicate:
            guard let promoted = try promote(notification, from: desktop) else { return .duplicate }
            row = promoted
        }
        try connection.execute(
            """
            INSERT INTO inbox_desktop(desktop, last_push_at) VALUES (?1, ?2)
            ON CONFLICT(desktop) DO UPDATE SET last_push_at = ?2
            """, [.text(desktop.text), .integer(notification.createdAt)])
        return .inserted(row: row)
    }

    /// Unread rows over all desktops, silenced and late ones included, and those that are not here: of each desktop never
    /// less than none.
    package func unreadCount() throws(StoreError) -> Int64 {
        try connection.integer("SELECT ifnull(sum(max(0, n)), 0) FROM (\(Inbox.unread) GROUP BY desktop)")
    }

    package func unreadCount(of desktop: PeerID) throws(StoreError) -> Int64 {
        try connection.integer(
            "SELECT max(0, ifnull(sum(n), 0)) FROM (\(Inbox.unread) GROUP BY desktop) WHERE desktop = ?",
            [.text(desktop.text)])
    }

    /// What is not here counts, unless everything of its desktop is being marked or cleared.
    private static let unread = """
        SELECT desktop, sum(n) AS n FROM (
            SELECT desktop, count(*) AS n FROM inbox WHERE read = 0 AND hidden = 0 GROUP BY desktop
            UNION ALL
            SELECT desktop, beyond FROM inbox_desktop WHERE beyond <> 0 AND NOT EXISTS (
                SELECT 1 FROM inbox_change AS c
                WHERE c.desktop = inbox_desktop.desktop AND c.stage = 0 AND c.kind IN (1, 3))
        )
        """

    /// The push that came last.
    package func latestPush() throws(StoreError) -> Entry? {
        try connection.first(
            "SELECT \(Inbox.columns) FROM inbox WHERE pushed = 1 ORDER BY row DESC LIMIT 1", [], Inbox.entry)
    }

    package func find(_ id: NotificationID, of desktop: PeerID) throws(StoreError) -> Entry? {
        try connection.first(
            "SELECT \(Inbox.columns) FROM inbox WHERE desktop = ? AND id = ?", [.text(desktop.text), .text(id.text)],
            Inbox.entry)
    }

    /// Whether it is there to be seen, and not read.
    package func isUnread(_ id: NotificationID, of desktop: PeerID) throws(StoreError) -> Bool {
        try connection.integer(
            "SELECT count(*) FROM inbox WHERE desktop = ? AND id = ? AND read = 0 AND hidden = 0",
            [.text(desktop.text), .text(id.text)]) > 0
    }

    /// Marks notifications of one desktop; gives how many were unread before.
    package func markRead(
        _ ids: [NotificationID], of desktop: PeerID, at moment: EpochMilliseconds
    ) throws(StoreError) -> Int {
        var changed = 0
        for id in ids {
            changed += try connection.execute(
                """
                UPDATE inbox SET read = 1, said_read = 1, read_at = ? WHERE desktop = ? AND id = ? AND read = 0
                """, [.integer(moment), .text(desktop.text), .text(id.text)])
        }
        return changed
    }

    /// Marks all of one desktop; gives how many were unread before.
    package func markAllRead(of desktop: PeerID, at moment: EpochMilliseconds) throws(StoreError) -> Int {
        try connection.execute(
            "UPDATE inbox SET read = 1, said_read = 1, read_at = ? WHERE desktop = ? AND read = 0",
            [.integer(moment), .text(desktop.text)])
    }

    /// Forgets a desktop that was unpaired, and all of its rows.
    package func removeAll(of desktop: PeerID) throws(StoreError) -> Int {
        try forget(desktop)
        return try connection.execute("DELETE FROM inbox WHERE desktop = ?", [.text(desktop.text)])
    }

    /// A desktop was unpaired: its rows stay, as they are shown.
    package func forget(_ desktop: PeerID) throws(StoreError) {
        let values: [Value] = [.text(desktop.text)]
        try connection.execute("DELETE FROM inbox_change WHERE desktop = ?", values)
        try connection.execute("UPDATE inbox SET said_read = read, uncertain = 0 WHERE desktop = ?", values)
        try take(out: "desktop = ? AND hidden = 1", values)
        try connection.execute("DELETE FROM inbox_desktop WHERE desktop = ?", values)
        try connection.execute("DELETE FROM desktop_settings WHERE desktop = ?", values)
    }

    static let columns = "row, desktop, redelivered, \(StoredNotification.columns)"

    static func entry(_ row: borrowing Row) throws(StoreError) -> Entry {
        Entry(
            row: try row.integer(0), desktop: PeerID(try row.text(1)),
            notification: try StoredNotification.read(row, from: 3), redelivered: try row.flag(2))
    }

    func insert(
        _ notification: Notification, from desktop: PeerID, handed: Handed, pushed: Bool, run: Int64 = 0
    ) throws(StoreError) -> Insertion {
        let inserted = try connection.execute(
            """
            INSERT INTO inbox(desktop, handed, pushed, said_read, search, seen, arrival, \(StoredNotification.columns))
            VALUES (?, ?, ?, ?, ?, ?, \(Inbox.nextArrival), \(StoredNotification.placeholders))
            ON CONFLICT(desktop, id) DO NOTHING
            """,
            [
                .text(desktop.text), .integer(handed.rawValue), .flag(pushed), .flag(notification.read),
                .optional(SearchText.of(title: notification.title, body: notification.body)), .integer(run),
            ] + StoredNotification.values(notification))
        return inserted == 1 ? .inserted(row: connection.lastInsertRow) : .duplicate
    }

    /// After those that wait for the host.
    private static let nextArrival = "(SELECT ifnull(max(arrival), 0) + 1 FROM inbox WHERE handed < 2)"

    private func promote(_ notification: Notification, from desktop: PeerID) throws(StoreError) -> Int64? {
        let values: [Value] = [.text(desktop.text), .text(notification.id.text)]
        let row = try connection.first(
            "SELECT row FROM inbox WHERE desktop = ? AND id = ? AND pushed = 0", values
        ) { (row) throws(StoreError) in try row.integer(0) }
        guard let row else { return nil }
        try connection.execute(
            """
            UPDATE inbox SET pushed = 1, handed = 0, received_at = ?, late = ?, silenced = ?,
                arrival = \(Inbox.nextArrival)
            WHERE row = ?
            """,
            [
                .integer(notification.receivedAt), .flag(notification.late), .flag(notification.silenced),
                .integer(row),
            ])
        return row
    }
}
