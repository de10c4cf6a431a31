package import JSON
package import Sharing

/// The functions of the C interface that a device carries out, by the names that programs which share one use.
package enum DeviceCall: String, Sendable, CaseIterable {
    case start, stop, suspend, resume, state

    case scan = "pairing.scan"
    case show = "pairing.show"
    case type = "pairing.type"
    case cancel = "pairing.cancel"
    case confirm = "pairing.confirm"
    case desktops = "pairing.list"
    case rename = "pairing.rename"
    case unpair = "pairing.unpair"
    case unpairAll = "pairing.clear"

    case revoke, readmit, revoked, rekey
    case cancelRekey = "rekey.cancel"
    case rekeyState = "rekey.status"
    case confirmRekey = "rekey.confirm"

    case notification = "notification"
    case invoke

    case loadInbox = "inbox.load"
    case inboxState = "inbox.state"
    case inboxSettings = "inbox.settings"
    case refresh = "inbox.refresh"
    case markRead = "inbox.markRead"
    case markAllRead = "inbox.markAllRead"
    case delete = "inbox.delete"
    case clear = "inbox.clear"

    case queue = "queue.list"
    case removeQueued = "queue.remove"
    case retryQueued = "queue.retry"
    case clearQueue = "queue.clear"

    case token
    case clearToken = "token.clear"
    case receive, complete

    case alertsState = "alerts.state"
    case requestAlerts = "alerts.request"
    case authorizeAlerts = "alerts.authorize"
    case inFront = "alerts.inFront"
    case respond = "alerts.respond"
    case categories = "alerts.categories"
    case alertSettings = "alerts.settings"
    case changeAlertSettings = "alerts.setSettings"
    case deliveredAlerts = "alerts.delivered"
    case removeAlerts = "alerts.remove"
    case badge = "alerts.badge"
    case addReminder = "reminder.add"
    case reminders = "reminder.list"
    case removeReminders = "reminder.remove"
    case position = "reminder.position"

    /// Whether it starts the device.
    var startsDevice: Bool { [.scan, .show, .type].contains(self) }

    /// Whether it only reads.
    var reads: Bool {
        switch self {
        case .state, .desktops, .revoked, .rekeyState, .loadInbox, .inboxState, .inboxSettings, .queue, .alertsState,
            .alertSettings, .deliveredAlerts, .reminders, .start, .stop:
            true
        case .suspend, .resume, .scan, .show, .type, .cancel, .confirm, .rename, .unpair, .unpairAll, .revoke, .readmit,
            .rekey, .cancelRekey, .confirmRekey, .notification, .invoke, .refresh, .markRead, .markAllRead, .delete,
            .clear, .removeQueued, .retryQueued, .clearQueue, .token, .clearToken, .receive, .complete, .requestAlerts,
            .authorizeAlerts, .inFront, .respond, .categories, .changeAlertSettings, .removeAlerts, .badge,
            .addReminder, .removeReminders, .position:
            false
        }
    }
}

extension HostCall {
    package init(_ call: DeviceCall, _ arguments: JSONValue...) { self.init(call.rawValue, arguments) }
}
