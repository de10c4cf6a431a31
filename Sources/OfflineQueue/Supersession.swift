import JSON
import Notifications

/// Which commands a newer one makes needless.
///
/// They go to the same desktop, and are carried out one after the other, so what the newer one does anyway need not be
/// done before it. The caller leaves alone one that is under way.
enum Supersession {
    /// What is left of the older one; `nil` = nothing.
    static func rest(of old: QueuedCommand, after new: QueuedCommand) -> QueuedCommand? {
        guard let older = NotificationMethod(name: old.method), let newer = NotificationMethod(name: new.method) else {
            return old
        }
        if let effect = newer.row.effect, let earlier = older.row.effect, effect.covers(earlier) {
            return effect.isOfAll || target(old) == target(new) ? nil : old
        }
        guard newer.row.queueing == .byField, newer == older else { return old }
        guard let params = SettingsChange.rest(of: old.params, after: new.params) else { return nil }
        var rest = old
        rest.params = params
        return rest
    }

    private static func target(_ command: QueuedCommand) -> JSONValue? {
        command.params["notificationId"] ?? command.params["id"]
    }
}
