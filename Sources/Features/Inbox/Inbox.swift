import Listing
package import Notifications
package import Store
package import Wire

/// The device's copy of its desktops' histories: the table `inbox`, one row per notification and desktop.
///
/// Made for one piece of work on the store, over its connection.
package struct Inbox {
    let connection: Connection
    let peers: PeerNumbers

    package init(_ connection: Connection) {
        self.connection = connection
        peers = PeerNumbers(connection)
    }

    /// The inbox's part of the device's file, with the numbers of peers.
    package static var migrations: [Migration] { InboxSchema.migrations }

    // The other parts of the inbox, over the same connection.

    package var counts: InboxCounts { InboxCounts(connection) }
    package var changes: InboxChanges { InboxChanges(connection) }
    package var handover: HostHandover { HostHandover(connection) }
    package var programs: InboxPrograms { InboxPrograms(connection) }
    package var history: InboxHistory { InboxHistory(connection) }
    package var pages: InboxPages { InboxPages(connection) }

    /// A row with its place.
    package struct Entry: Sendable, Equatable {
        /// Increases; never reused.
        package let row: Int64
        /// The push's number in order of arrival; 0 = only known from the history.
        package let arrival: Int64
        package let desktop: PeerID
        package let notification: Notification
        /// Of the pushes that this one replaced, the one that the host has seen.
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
        /// The inbox already has this desktop's notification. Nothing changed.
        case duplicate
    }

    /// The result of storing a push.
    package enum Arrival: Sendable, Equatable {
        /// It has a row, which replaces those with its `collapseKey`, and waits to be handed to the host.
        case stored(row: Int64, replaced: [NotificationID])
        /// It already had a row. Nothing changed.
        case duplicate
        /// It already had a row, as a hint, which isn't one any more.
        case confirmed
        /// Refused: too many wait for the host.
        case full
    }

    /// The most rows to keep. Those that wait for the host count, and are never dropped.
    package static let limit: Int64 = 10_000
    /// How long a row is kept, in milliseconds.
    package static let lifetime: Int64 = 90 * 86_400_000
    /// While this many wait for the host, further pushes are refused.
    package static let waitingLimit: Int64 = 100_000
    /// While fewer than this many wait, pushes are offered to the host as they are stored.
    package static let offeredLimit: Int64 = 256

    /// Stores a push, which then waits to be handed to the host. For one that replaces others: ``PushBatch``.
    ///
    /// A row that came with the history before becomes a push: the host hasn't had it yet (WireSealing,
    /// "De-duplication").
    package func insert(_ notification: Notification, from desktop: PeerID) throws(StoreError) -> Insertion {
        var batch = try PushBatch(self, hostHasSeen: 0, isShared: false)
        let insertion = try batch.insert(notification, from: desktop)
        try batch.finish(hostTakes: false)
        return insertion
    }

    /// Stores a push. One with a `collapseKey` replaces earlier ones; if the host has seen one of them, it is told which.
    package func receive(_ notification: Notification, from desktop: PeerID) throws(StoreError) -> Arrival {
        var batch = try PushBatch(self, hostHasSeen: 0, isShared: false)
        let arrival = try batch.receive(notification, from: desktop).arrival
        try batch.finish(hostTakes: false)
        return arrival
    }

    /// Drops rows beyond ``limit`` or ``lifetime``, except those that wait for the host or for a program that shares the
    /// device. Returns how many.
    @discardableResult
    package func prune(now: EpochMilliseconds) throws(StoreError) -> Int {
        let waiting = try handover.watermarks().waiting
        let released = Value.integer(try connection.integer("SELECT \(InboxPrograms.released)"))
        var pruned = try connection.execute(
            "DELETE FROM inbox WHERE created_at < ? AND arrival <= ?", [.integer(now &- Self.lifetime), released])
        let total = try connection.integer("SELECT ifnull(sum(total), 0) FROM push_count WHERE peer > 0")
        // Skips the scan if all rows wait.
        let excess = min(total - Self.limit, total - waiting)
        if excess > 0 {
            pruned += try connection.execute(
                """
                DELETE FROM inbox WHERE row IN
                    (SELECT row FROM inbox WHERE arrival <= ? ORDER BY created_at, row LIMIT ?)
                """, [released, .integer(excess)])
        }
        return pruned
    }

    /// A peer's number, for a condition on `desktop`. Matches nothing if the peer has none.
    static let number = "(SELECT number FROM peer WHERE id = ?)"

    /// Pushes after this arrival, in order, for the host or a program.
    ///
    /// - Parameter fits: called with each push; the first that doesn't fit ends the list.
    package func pushes(
        after arrival: Int64, limit: Int, fits: (Entry) -> Bool = { _ in true }
    ) throws(StoreError) -> [Entry] {
        try connection.prefix(
            "SELECT \(Inbox.columns) FROM inbox WHERE arrival > max(?, 0) ORDER BY arrival LIMIT ?",
            [.integer(arrival), .integer(Int64(limit))]
        ) { (row) throws(StoreError) in
            let entry = try Inbox.entry(row)
            return fits(entry) ? entry : nil
        }
    }

    /// The newest push.
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

    /// Whether it is shown, and unread.
    package func isUnread(_ id: NotificationID, of desktop: PeerID) throws(StoreError) -> Bool {
        try connection.integer(
            "SELECT count(*) FROM inbox WHERE desktop = \(Inbox.number) AND id = ? AND read = 0 AND hidden = 0",
            [.text(desktop.text), .text(id.text)]) > 0
    }

    /// Marks notifications of one desktop as read. Returns how many were unread.
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

    /// Marks all notifications of one desktop as read. Returns how many were unread.
    package func markAllRead(of desktop: PeerID, at moment: EpochMilliseconds) throws(StoreError) -> Int {
        try connection.execute(
            "UPDATE inbox SET read = 1, said_read = 1, read_at = ? WHERE desktop = \(Inbox.number) AND read = 0",
            [.integer(moment), .text(desktop.text)])
    }

    /// The newest row's number; 0 = there is none.
    package func newestRow() throws(StoreError) -> Int64 {
        try connection.integer("SELECT ifnull(max(row), 0) FROM inbox")
    }

    /// The same for one desktop's rows.
    package func newestRow(of desktop: PeerID) throws(StoreError) -> Int64 {
        try connection.integer(
            "SELECT ifnull(max(row), 0) FROM inbox WHERE desktop = \(Inbox.number)", [.text(desktop.text)])
    }

    /// Deletes rows. Those that still wait for the host or for a program are kept for it, but no longer shown.
    @discardableResult
    func take(out condition: String, _ values: [Value]) throws(StoreError) -> Int {
        let released = InboxPrograms.released
        let kept = try connection.execute(
            "UPDATE inbox SET hidden = 2 WHERE \(condition) AND arrival > \(released) AND hidden < 2", values)
        return try connection.execute("DELETE FROM inbox WHERE \(condition) AND arrival <= \(released)", values) + kept
    }

    /// Forgets an unpaired desktop and all of its rows.
    package func removeAll(of desktop: PeerID) throws(StoreError) -> Int {
        try forget(desktop)
        return try connection.execute("DELETE FROM inbox WHERE desktop = \(Inbox.number)", [.text(desktop.text)])
    }

    /// Forgets an unpaired desktop. Its rows stay as they are shown.
    package func forget(_ desktop: PeerID) throws(StoreError) {
        let values: [Value] = [.text(desktop.text)]
        try changes.forget(desktop)
        try connection.execute(
            "UPDATE inbox SET said_read = read, uncertain = 0 WHERE desktop = \(Inbox.number)", values)
        try take(out: "desktop = \(Inbox.number) AND hidden = 1", values)
        try history.forget(desktop)
        try SettingsCache(connection).forget(desktop)
    }

    static let columns = """
        row, arrival, (SELECT peer.id FROM peer WHERE peer.number = inbox.desktop), replaces, \(notificationColumns)
        """

    static func entry(_ row: borrowing Row) throws(StoreError) -> Entry {
        Entry(
            row: try row.integer(0), arrival: try row.integer(1), desktop: PeerID(try row.text(2)),
            notification: try notification(row, from: 4),
            replaces: try row.optionalText(3).map(NotificationID.init(_:)))
    }

    /// The columns of ``notification(_:from:)``.
    static let notificationColumns = "hint, \(StoredNotification.columns)"

    /// Reads ``notificationColumns``, of which the first is at that place.
    static func notification(_ row: borrowing Row, from first: Int32) throws(StoreError) -> Notification {
        var notification = try StoredNotification.read(row, from: first + 1)
        notification.isHint = try row.flag(first)
        return notification
    }

    /// Adds a row.
    ///
    /// - Parameters:
    ///   - desktop: its peer's number.
    ///   - push: its row and arrival; `nil` = from the history, whose rows triggers count.
    func insert(
        _ notification: Notification, from desktop: Int64, push: (row: Int64, arrival: Int64)? = nil, run: Int64 = 0
    ) throws(StoreError) -> Insertion {
        let arrival = push?.arrival ?? 0
        let inserted = try connection.execute(
            Inbox.insertion,
            [
                .optional(push?.row), .integer(desktop), .integer(arrival), .flag(notification.read),
                .optional(SearchText.of(title: notification.title, body: notification.body)), .integer(run),
                .flag(notification.isHint),
            ] + StoredNotification.values(notification))
        return inserted == 1 ? .inserted(row: connection.lastInsertRow) : .duplicate
    }

    private static let insertion = """
        INSERT INTO inbox(row, desktop, arrival, said_read, search, seen, hint, \(StoredNotification.columns))
        VALUES (
            ifnull(?, (SELECT row + 1 FROM push_count WHERE peer = 0)), ?, ?, ?, ?, ?, ?,
            \(StoredNotification.placeholders))
        ON CONFLICT(desktop, id) DO NOTHING
        """
}
