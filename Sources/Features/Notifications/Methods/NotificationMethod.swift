import JSON

/// The notification methods, and everything that differs between them (WireMessages, "Commands").
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

    package var row: MethodDescriptor { NotificationMethod.rows[self] ?? written }

    private static let rows = Dictionary(uniqueKeysWithValues: allCases.map { ($0, $0.written) })

    /// The table.
    private var written: MethodDescriptor {
        switch self {
        case .send:
            MethodDescriptor(
                risk: .mutating, isPush: true,
                // Deployed desktops read respectQuietHours, and have no default.
                parameters: [.title, .body, .icon, .priority, .data, .respectQuietHours.standard(true)] + .richer
                    + [.scheduledAt, .queueMilliseconds],
                result: .members([
                    ResultMember("notificationId", "id", kind: .text),
                    .scheduledAt,
                    ResultMember("silenced", kind: .flag, absent: .value(false), refused: .value(false)),
                    ResultMember("timestamp", kind: .moment, absent: .now, refused: .read(.now)),
                ]))
        case .sendToMobile:
            MethodDescriptor(
                risk: .mutating, isPush: true,
                parameters: [.title, .body, .priority, .data, .respectQuietHours] + .richer
                    + [.deviceID, .scheduledAt, .answerWhen, .queueMilliseconds],
                result: .members([
                    .notificationID,
                    .scheduledAt,
                    ResultMember("delivered", kind: .flag, refused: .read(.value(false))),
                    ResultMember("deviceId", kind: .text, refused: .read(.leftOut)),
                    ResultMember("error", kind: .error),
                ]))
        case .broadcast:
            MethodDescriptor(
                risk: .mutating, isPush: true,
                parameters: [.title, .body, .priority, .data, .respectQuietHours] + .richer + [
                    .scheduledAt, .group, .answerWhen, .publisher, .queueMilliseconds,
                ],
                result: .members([
                    .notificationID,
                    .scheduledAt,
                    ResultMember(
                        "deliveredCount", "delivered", kind: .count, absent: .value(0), refused: .read(.value(0))),
                    ResultMember("failedCount", "failed", kind: .count, absent: .value(0), refused: .read(.value(0))),
                ]))
        case .getHistory:
            MethodDescriptor(
                risk: .safe,
                parameters: HistoryQuery.parameters,
                rule: HistoryQuery.rule,
                result: .history)
        case .markAsRead:
            MethodDescriptor(
                risk: .mutating, queueing: .whole, effect: .read,
                parameters: [.notificationID],
                result: .members([ResultMember("markedCount", kind: .countOrAll, refused: .value(0))]))
        case .markAllAsRead:
            MethodDescriptor(
                risk: .mutating, queueing: .whole, effect: .allRead,
                result: .members([ResultMember("markedCount", kind: .countOrAll, refused: .value(0))]))
        case .delete:
            MethodDescriptor(
                risk: .mutating, queueing: .whole, effect: .delete,
                parameters: [.notificationID],
                result: .members([
                    ResultMember("deletedCount", kind: .count),
                    ResultMember("error", kind: .error),
                ]))
        case .clearAll:
            MethodDescriptor(
                risk: .mutating, queueing: .whole, effect: .clear,
                result: .members([ResultMember("clearedCount", kind: .countOrAll, refused: .value(0))]))
        case .getUnreadCount:
            MethodDescriptor(
                risk: .safe,
                result: .members([ResultMember("count", "unreadCount", kind: .count, absent: .fault)]))
        case .getSettings:
            MethodDescriptor(
                risk: .safe,
                result: .settings)
        case .updateSettings:
            MethodDescriptor(
                risk: .mutating, queueing: .byField,
                parameters: SettingsChange.parameters,
                rule: SettingsChange.rule,
                result: .members([
                    ResultMember("settings", kind: .settings, refused: .read(.leftOut)),
                    ResultMember("revision", kind: .count, refused: .read(.leftOut)),
                    ResultMember("stale", kind: .texts, refused: .read(.leftOut)),
                    ResultMember("error", kind: .error),
                ]))
        }
    }
}

extension ResultMember {
    /// When the desktop will push it: only of a push for later, and of desktops that keep such.
    fileprivate static let scheduledAt = ResultMember("scheduledAt", kind: .count)
    /// Of what a push is in the desktop's history, for Bellwire desktops.
    fileprivate static let notificationID = ResultMember("notificationId", kind: .text)
}
