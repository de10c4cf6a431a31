import JSON
import Wire

/// Which commands a newer one makes needless.
///
/// They are given to the same desktop, and carried out one after the other, so what the newer one does anyway need not be
/// done before it. One that is under way is left alone by the caller.
enum Supersession {
    private static let markAsRead = "notification.markAsRead"
    private static let markAllAsRead = "notification.markAllAsRead"
    private static let delete = "notification.delete"
    private static let clearAll = "notification.clearAll"
    private static let updateSettings = "notification.updateSettings"

    /// What is left of the older one; `nil` = nothing.
    static func rest(of old: QueuedCommand, after new: QueuedCommand) -> QueuedCommand? {
        switch (old.method, new.method) {
        case (markAsRead, clearAll), (markAllAsRead, clearAll), (delete, clearAll), (clearAll, clearAll),
            (markAsRead, markAllAsRead), (markAllAsRead, markAllAsRead):
            return nil
        case (markAsRead, markAsRead), (markAsRead, delete), (delete, delete):
            return target(old) == target(new) ? nil : old
        case (updateSettings, updateSettings): return settings(old, without: new)
        default: return old  // methods are names; these are the ones that are queued
        }
    }

    private static func target(_ command: QueuedCommand) -> JSONValue? {
        command.params["notificationId"] ?? command.params["id"]
    }

    /// A field that is set again need not be set before. Fields stand flat, quiet hours also nested (`protocol.md` 3).
    private static func settings(_ old: QueuedCommand, without new: QueuedCommand) -> QueuedCommand? {
        var rest = old
        var nested = old.params["quietHours"]?.object ?? [:]
        for field in new.params.keys where field != "revision" && field != "quietHours" {
            rest.params[field] = nil
            if let name = nestedNames[field] { nested[name] = nil }
        }
        rest.params["quietHours"] = nested.isEmpty ? nil : .object(nested)
        return rest.params.keys.contains { $0 != "revision" } ? rest : nil
    }

    private static let nestedNames = [
        "quietHoursEnabled": "enabled", "quietHoursStart": "start", "quietHoursEnd": "end",
    ]
}
