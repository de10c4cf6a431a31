import JSON
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
    package func insert(_ notification: Notification, from desktop: PeerID) throws(StoreError) -> Insertion {
        try insert(notification, from: desktop, handed: .waiting, pushed: true)
    }

    /// Brings in a row of the desktop's history, which is the source of truth: what is known of it is overwritten, but for
    /// how it came to us. A row that is new here is not handed over: it was asked for.
    package func merge(
        _ row: HistoryRow, from desktop: PeerID, receivedAt: EpochMilliseconds
    ) throws(StoreError) -> Insertion {
        let notification = Notification(row, receivedAt: receivedAt)
        let insertion = try insert(notification, from: desktop, handed: .handed, pushed: false)
        guard insertion == .duplicate else { return insertion }
        try connection.execute(
            """
            UPDATE inbox SET title = ?3, body = ?4, priority = ?5, source = ?6, created_at = ifnull(?7, created_at),
                read = ?8, read_at = ?9, data = ifnull(?10, data)
            WHERE desktop = ?1 AND id = ?2
            """,
            [
                .text(desktop.text), .text(row.id.text), .text(row.title), .text(row.body),
                .integer(row.priority.rawValue), .text(row.source.rawValue), .optional(row.createdAt),
                .flag(row.read), .optional(row.readAt),
                .optional(row.data.map { JSONValue.object($0).serialized() }),
            ])
        return .duplicate
    }

    /// Unread rows over all desktops, silenced and late ones included.
    package func unreadCount() throws(StoreError) -> Int64 {
        try connection.integer("SELECT count(*) FROM inbox WHERE read = 0")
    }

    package func unreadCount(of desktop: PeerID) throws(StoreError) -> Int64 {
        try connection.integer("SELECT count(*) FROM inbox WHERE read = 0 AND desktop = ?", [.text(desktop.text)])
    }

    /// The push that came last.
    package func latestPush() throws(StoreError) -> Entry? {
        try connection.first(
            "SELECT \(Inbox.columns) FROM inbox WHERE pushed = 1 ORDER BY row DESC LIMIT 1", [], Inbox.entry)
    }

    /// Marks notifications of one desktop; gives how many were unread before.
    package func markRead(
        _ ids: [NotificationID], of desktop: PeerID, at moment: EpochMilliseconds
    ) throws(StoreError) -> Int {
        var changed = 0
        for id in ids {
            changed += try connection.execute(
                "UPDATE inbox SET read = 1, read_at = ? WHERE desktop = ? AND id = ? AND read = 0",
                [.integer(moment), .text(desktop.text), .text(id.text)])
        }
        return changed
    }

    /// Marks all of one desktop; gives how many were unread before.
    package func markAllRead(of desktop: PeerID, at moment: EpochMilliseconds) throws(StoreError) -> Int {
        try connection.execute(
            "UPDATE inbox SET read = 1, read_at = ? WHERE desktop = ? AND read = 0",
            [.integer(moment), .text(desktop.text)])
    }

    /// Forgets a desktop that was unpaired.
    package func removeAll(of desktop: PeerID) throws(StoreError) -> Int {
        try connection.execute("DELETE FROM inbox WHERE desktop = ?", [.text(desktop.text)])
    }

    static let columns = "row, desktop, redelivered, \(StoredNotification.columns)"

    static func entry(_ row: borrowing Row) throws(StoreError) -> Entry {
        Entry(
            row: try row.integer(0), desktop: PeerID(try row.text(1)),
            notification: try StoredNotification.read(row, from: 3), redelivered: try row.flag(2))
    }

    private func insert(
        _ notification: Notification, from desktop: PeerID, handed: Handed, pushed: Bool
    ) throws(StoreError) -> Insertion {
        let inserted = try connection.execute(
            """
            INSERT INTO inbox(desktop, handed, pushed, \(StoredNotification.columns))
            VALUES (?, ?, ?, \(StoredNotification.placeholders))
            ON CONFLICT(desktop, id) DO NOTHING
            """,
            [.text(desktop.text), .integer(handed.rawValue), .flag(pushed)] + StoredNotification.values(notification))
        return inserted == 1 ? .inserted(row: connection.lastInsertRow) : .duplicate
    }
}
