package import Store
package import Wire

/// Every notification of this desktop: the source of truth for all devices.
///
/// Made for one piece of work on the store, over its connection.
package struct History {
    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    /// A page, newest first.
    package struct Page: Sendable, Equatable {
        package let notifications: [Notification]
        /// How many the same question matches in all.
        package let total: Int64
        package let unreadCount: Int64
    }

    /// - Parameter target: the one device that it is for; `nil` for all.
    package func insert(_ notification: Notification, icon: String?, target: PeerID?) throws(StoreError) {
        try connection.execute(
            """
            INSERT INTO history(icon, target, \(StoredNotification.columns))
            VALUES (?, ?, \(StoredNotification.placeholders))
            """,
            [.optional(icon), .optional(target?.text)] + StoredNotification.values(notification))
    }

    package func page(limit: Int64, offset: Int64, unreadOnly: Bool) throws(StoreError) -> Page {
        let columns = StoredNotification.columns
        let order = "ORDER BY created_at DESC, row DESC LIMIT ? OFFSET ?"
        let notifications = try connection.query(
            "SELECT \(columns) FROM history \(unreadOnly ? "WHERE read = 0" : "") \(order)",
            [.integer(limit), .integer(offset)]
        ) { (row) throws(StoreError) in try StoredNotification.read(row) }
        let (total, unread) = try counts()
        return Page(notifications: notifications, total: unreadOnly ? unread : total, unreadCount: unread)
    }

    /// Marks one; gives how many were unread before: 1, or 0 when it was read or is not there.
    package func markAsRead(_ id: NotificationID, at moment: EpochMilliseconds) throws(StoreError) -> Int {
        try connection.execute(
            "UPDATE history SET read = 1, read_at = ? WHERE id = ? AND read = 0", [.integer(moment), .text(id.text)])
    }

    package func unreadCount() throws(StoreError) -> Int64 { try counts().unread }

    package func total() throws(StoreError) -> Int64 { try counts().total }

    private func counts() throws(StoreError) -> (total: Int64, unread: Int64) {
        let counts = try connection.first("SELECT total, unread FROM history_count") { (row) throws(StoreError) in
            (total: try row.integer(0), unread: try row.integer(1))
        }
        guard let counts else { throw StoreError(.corrupt, "the history has lost its counts") }
        return counts
    }
}
