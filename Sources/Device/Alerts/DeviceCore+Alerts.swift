import DeviceAlerts
import Hosting
import Inbox
import Notifications
import Store
import Transport
import Wire

extension DeviceCore: AlertHost {
    /// Without alerts none of their memory is used.
    var showsAlerts: Bool { options.alerts.kind != .none }

    var alertJudge: AlertJudge? { showsAlerts ? alerts.judge : nil }

    var alerts: DeviceAlerts {
        if let madeAlerts { return madeAlerts }
        let configuration = AlertConfiguration(
            options.alerts, lateAlerts: options.lateAlerts, programName: options.common.name,
            stateDirectory: options.common.stateDirectory, caFile: options.common.caFile)
        let alerts = DeviceAlerts(configuration, storedAlerts, host: self, inbox: StoredInbox(), channel, database)
        madeAlerts = alerts
        return alerts
    }

    /// The desktop was unpaired.
    func forgetAlerts(of desktop: PeerID) {
        if showsAlerts { return alerts.forget(desktop) }
        store { (connection) throws(StoreError) in
            try DeviceAlerts.forget(desktop, connection)
        } then: { core, result in
            guard case .failure(let error) = result, error.code != .closed else { return }
            core.channel.problem("store_failed", "alerts of a desktop could not be removed: \(error.message)")
        }
    }

    func markRead(_ notification: NotificationID, of desktop: PeerID) {
        guard let request = try? Device.InboxRequest.markRead(notification.text) else { return }
        let timeout = Int64(clamping: DeviceCore.syncTimeout)
        changeInbox(request, desktop: desktop.text, timeout: timeout) { [channel] result in
            guard case .failure(let error) = result, error.code != .closed, error.code != .notFound else { return }
            channel.log(.warning, "a notification could not be marked as read: \(error.message)")
        }
    }
}

/// The inbox as alerts see it.
private struct StoredInbox: AlertInbox {
    func notification(
        _ id: NotificationID, of desktop: PeerID, _ connection: Connection
    ) throws(StoreError) -> Notification? {
        try Inbox(connection).find(id, of: desktop)?.notification
    }

    func isUnread(_ id: NotificationID, of desktop: PeerID, _ connection: Connection) throws(StoreError) -> Bool {
        try Inbox(connection).isUnread(id, of: desktop)
    }

    func unreadCount(_ connection: Connection) throws(StoreError) -> Int64 { try Inbox(connection).unreadCount() }
}
