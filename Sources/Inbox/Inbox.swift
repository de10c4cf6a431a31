import Listing
package import Notifications
package import Store
package import Wire

/// The history as the device knows it: one row for each notification of each desktop.
///
/// Made for one piece of work on the store, over its connection.
package struct Inbox {
    let connection: Connection
    let peers: PeerNumbers

    package init(_ connection: Connection) {
        self.connection = connection
        peers = PeerNumbers(connection)
    }

    /// A row with its place.
    package struct Entry: Sendable, Equatable {
        /// Counts up; never used twice.
        package let row: Int64
        /// The place among the pushes, in the order in which they came; 0 = known from the history alone.
        package let arrival: Int64
        package let desktop: PeerID
        package let notification: Notification
        /// The one that the host knows, of what this push has taken the place of.
        package var replaces: NotificationID?

        package init(
            row: Int64, arrival: Int64, desktop: PeerID, notification: Notification, replaces: NotificationID? = nil
        ) {
            self.row = row
            self.arrival = arrival
            self.desktop = desktop
            self.notification = notification
            self.replaces = replaces
        }
    }

    package enum Insertion: Sendable, Equatable {
        case inserted(row: Int64)
        /// This desktop's notification is here already. Nothing has changed.
        case duplicate
    }

    /// Keeps a push that has come; it waits to be handed to the host. For a push that replaces others: ``PushBatch``.
    ///
    /// A row that came with the history before becomes a push: the host hasn't had it yet (WireSealing,
    /// "De-duplication").
    package func insert(_ notification: Notification, from desktop: PeerID) throws(StoreError) -> Insertion {
        var batch = try PushBatch(self, hostHasSeen: 0)
        let insertion = try batch.insert(notification, from: desktop)
        try batch.finish(hostTakes: false)
        return insertion
    }

    /// Unread rows over all desktops, silenced and late ones included, and those that are not here: of each desktop never
    /// less than none. Reads a row or two for each desktop.
    package func unreadCount() throws(StoreError) -> Int64 {
        try connection.integer("SELECT ifnull(sum(max(0, n)), 0) FROM (\(Inbox.unread) GROUP BY desktop)")
    }

    package func unreadCount(of desktop: PeerID) throws(StoreError) -> Int64 {
        try connection.integer(
            """
            SELECT max(0, ifnull(sum(n), 0)) FROM (\(Inbox.unread) GROUP BY desktop) WHERE desktop = \(Inbox.number)
            """, [.text(desktop.text)])
    }

    /// What is not here counts, unless everything of its desktop is being marked or cleared.
    private static let unread = """
        SELECT desktop, sum(n) AS n FROM (
            SELECT desktop, unread AS n FROM inbox_count
            UNION ALL
            SELECT desktop, beyond FROM inbox_desktop WHERE beyond <> 0 AND NOT EXISTS (
                SELECT 1 FROM inbox_change AS c
                WHERE c.desktop = inbox_desktop.desktop AND c.stage = 0 AND c.kind IN (1, 3))
        )
        """

    /// A peer's number, for a condition on `desktop`; nothing is equal to it when the peer has none.
    static let number = "(SELECT number FROM peer WHERE id = ?)"

    /// The push that came last.
    package func latestPush() throws(StoreError) -> Entry? {
        try connection.first(
            "SELECT \(Inbox.columns) FROM inbox WHERE arrival > 0 ORDER BY arrival DESC LIMIT 1", [], Inbox.entry)
    }

    package func find(_ id: NotificationID, of desktop: PeerID) throws(StoreError) -> Entry? {
        try connection.first(
            "SELECT \(Inbox.columns) FROM inbox WHERE desktop = \(Inbox.number) AND id = ?",
            [.text(desktop.text), .text(id.text)],
            Inbox.entry)
    }

    /// Whether it is there to be seen, and not read.
    package func isUnread(_ id: NotificationID, of desktop: PeerID) throws(StoreError) -> Bool {
        try connection.integer(
            "SELECT count(*) FROM inbox WHERE desktop = \(Inbox.number) AND id = ? AND read = 0 AND hidden = 0",
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
                UPDATE inbox SET read = 1, said_read = 1, read_at = ? WHERE desktop = \(Inbox.number) AND id = ? AND read = 0
                """, [.integer(moment), .text(desktop.text), .text(id.text)])
        }
        return changed
    }

    /// Marks all of one desktop; gives how many were unread before.
    package func markAllRead(of desktop: PeerID, at moment: EpochMilliseconds) throws(StoreError) -> Int {
        try connection.execute(
            "UPDATE inbox SET read = 1, said_read = 1, read_at = ? WHERE desktop = \(Inbox.number) AND read = 0",
            [.integer(moment), .text(desktop.text)])
    }

    /// Forgets a desktop that was unpaired, and all of its rows.
    package func removeAll(of desktop: PeerID) throws(StoreError) -> Int {
        try forget(desktop)
        return try connection.execute("DELETE FROM inbox WHERE desktop = \(Inbox.number)", [.text(desktop.text)])
    }

    /// A desktop was unpaired: its rows stay, as they are shown.
    package func forget(_ desktop: PeerID) throws(StoreError) {
        let values: [Value] = [.text(desktop.text)]
        try connection.execute("DELETE FROM inbox_change WHERE desktop = \(Inbox.number)", values)
        try connection.execute(
            "UPDATE inbox SET said_read = read, uncertain = 0 WHERE desktop = \(Inbox.number)", values)
        try take(out: "desktop = \(Inbox.number) AND hidden = 1", values)
        try connection.execute("DELETE FROM inbox_desktop WHERE desktop = \(Inbox.number)", values)
        try connection.execute("DELETE FROM desktop_settings WHERE desktop = ?", values)
    }

    static let columns = """
        row, arrival, (SELECT peer.id FROM peer WHERE peer.number = inbox.desktop), replaces, \(StoredNotification.columns)
        """

    static func entry(_ row: borrowing Row) throws(StoreError) -> Entry {
        Entry(
            row: try row.integer(0), arrival: try row.integer(1), desktop: PeerID(try row.text(2)),
            notification: try StoredNotification.read(row, from: 4),
            replaces: try row.optionalText(3).map(NotificationID.init(_:)))
    }

    /// A new row.
    ///
    /// - Parameters:
    ///   - desktop: the number of its peer.
    ///   - arrival: 0 = from the history; then triggers count it.
    func insert(
        _ notification: Notification, from desktop: Int64, arrival: Int64, run: Int64 = 0
    ) throws(StoreError) -> Insertion {
        let inserted = try connection.execute(
            Inbox.insertion,
            [
                .integer(desktop), .integer(arrival), .flag(notification.read),
                .optional(SearchText.of(title: notification.title, body: notification.body)), .integer(run),
            ] + StoredNotification.values(notification))
        return inserted == 1 ? .inserted(row: connection.lastInsertRow) : .duplicate
    }

    private static let insertion = """
        INSERT INTO inbox(desktop, arrival, said_read, search, seen, \(StoredNotification.columns))
        VALUES (?, ?, ?, ?, ?, \(StoredNotification.placeholders))
        ON CONFLICT(desktop, id) DO NOTHING
        """
}
