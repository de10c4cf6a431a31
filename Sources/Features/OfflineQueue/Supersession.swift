import JSON
import Notifications

/// Which commands a newer one makes redundant.
///
/// Both go to the same desktop, which executes them in order, so an earlier command is redundant if the newer one
/// includes its effect. The caller does not apply this to a command that is being sent.
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
