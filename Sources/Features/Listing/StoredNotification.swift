import JSON
package import Store
package import Notifications
import Wire

/// How a notification lies in a row: the same columns on both sides.
package enum StoredNotification {
    /// The columns in the order of ``values(_:)`` and of ``read(_:from:)``.
    package static let columns = """
        id, title, body, priority, source, created_at, received_at, silenced, late, read, read_at, data, richer, \
        collapse_key, expires_at
        """
    package static let placeholders = "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?"
    package static let count: Int32 = 15

    package static func values(_ notification: Notification) -> [Value] {
        let richer = notification.richer
        return [
            .text(notification.id.text), .text(notification.title), .text(notification.body),
            .integer(notification.priority.rawValue), .text(notification.source.rawValue),
            .integer(notification.createdAt), .integer(notification.receivedAt), .flag(notification.silenced),
            .flag(notification.late), .flag(notification.read), .optional(notification.readAt),
            .optional(notification.data.map { JSONValue.object($0).serialized() }),
            .optional(richer.isEmpty ? nil : JSONValue.object(richer.members).serialized()),
            .optional(richer.collapseKey), .optional(richer.expiresAt),
        ]
    }

    /// Reads ``columns`` beginning at column `first`.
    package static func read(_ row: borrowing Row, from first: Int32 = 0) throws(StoreError) -> Notification {
        let richer = try object(row, first + 12).map { RicherFields(beside: $0, inside: nil) }
        return Notification(
            id: NotificationID(try row.text(first)),
            title: try row.text(first + 1),
            body: try row.text(first + 2),
            priority: Priority(rawValue: try row.integer(first + 3)) ?? .normal,
            source: NotificationSource(rawValue: try row.text(first + 4)) ?? .pc,
            createdAt: try row.integer(first + 5),
            receivedAt: try row.integer(first + 6),
            silenced: try row.flag(first + 7),
            late: try row.flag(first + 8),
            read: try row.flag(first + 9),
            readAt: try row.optionalInteger(first + 10),
            data: try object(row, first + 11),
            richer: richer ?? RicherFields())
    }

    private static func object(_ row: borrowing Row, _ column: Int32) throws(StoreError) -> JSONObject? {
        guard let text = try row.optionalText(column) else { return nil }
        return (try? JSONValue(parsing: text))?.object
    }
}
