/// The eleven methods (`protocol.md` 3, the table).
package enum NotificationMethod: String, Sendable, Hashable, CaseIterable {
    case send = "notification.send"
    case sendToMobile = "notification.sendToMobile"
    case broadcast = "notification.broadcast"
    case getHistory = "notification.getHistory"
    case markAsRead = "notification.markAsRead"
    case markAllAsRead = "notification.markAllAsRead"
    case delete = "notification.delete"
    case clearAll = "notification.clearAll"
    case getUnreadCount = "notification.getUnreadCount"
    case getSettings = "notification.getSettings"
    case updateSettings = "notification.updateSettings"

    /// The name on the wire.
    package var name: String { rawValue }

    package init?(name: String) { self.init(rawValue: name) }
}
