import Alerts
import DeviceAlerts
import Hosting
import Inbox
import Notifications
import Pairing
import Peering
import Sealing
import Store
import Transport
import Wire

/// The device's alerts, created on first use: with `"alerts":"none"` they would only use memory.
@EventLoop
final class AlertsOnDemand: AlertHost {
    enum Action {
        case markRead(NotificationID, of: PeerID)
        /// Tell the desktop whether its push was shown.
        case receipt(NotificationID, presented: Bool, to: PeerID)
    }

    private(set) var made: DeviceAlerts?
    private let stored: StoredAlertState?
    private let context: DeviceContext
    private let desktops: DesktopBook
    private let emit: @EventLoop (Action) -> Void

    /// - Parameter stored: the store's content at opening; `nil` = it is read when alerts are first used.
    init(
        _ stored: StoredAlertState?, _ context: DeviceContext, _ desktops: DesktopBook,
        emit: @escaping @EventLoop (Action) -> Void
    ) {
        (self.stored, self.context, self.desktops, self.emit) = (stored, context, desktops, emit)
    }

    /// For the program's requests, which are answered even if alerts are not shown.
    var all: DeviceAlerts {
        if let made { return made }
        let options = context.options
        let configuration = AlertConfiguration(
            options.alerts, lateAlerts: options.lateAlerts, programName: options.programName,
            language: .ofEnvironment, stateDirectory: options.common.stateDirectory, caFile: options.common.caFile)
        let alerts = DeviceAlerts(
            configuration, stored, host: self, inbox: StoredInbox(), context.channel, context.database)
        made = alerts
        return alerts
    }

    /// `nil` = nobody shows alerts.
    private var shown: DeviceAlerts? { context.options.alerts.kind == .none ? nil : all }

    /// Decides about pushes that are about to be stored; `nil` = alerts are not shown.
    var judge: AlertJudge? { shown?.judge }

    func begin() { shown?.begin() }
    func end() { made?.end() }
    func inboxChanged() { shown?.inboxChanged() }
    func setBadge(_ badge: Int64?) { shown?.setBadge(badge) }

    /// These are in the store.
    func entered(_ alerts: [AlertJudge.Judged]) { for alert in alerts { shown?.entered(alert) } }

    /// The desktop was unpaired.
    func forget(_ desktop: PeerID) {
        if let shown { return shown.forget(desktop) }
        context.store { (connection) throws(StoreError) in
            try DeviceAlerts.forget(desktop, connection)
        } then: { [channel = context.channel] result in
            guard case .failure(let error) = result, error.code != .closed else { return }
            channel.problem("store_failed", "could not remove a desktop's alerts: \(error.message)")
        }
    }

    // MARK: What alerts ask for

    func markRead(_ notification: NotificationID, of desktop: PeerID) { emit(.markRead(notification, of: desktop)) }

    func sender(_ desktop: PeerID) -> String? {
        guard desktops.peers.count > 1, let name = desktops.peers.peer(desktop)?.name, !name.isEmpty else { return nil }
        return name
    }

    func sendReceipt(id: NotificationID, presented: Bool, to desktop: PeerID) {
        emit(.receipt(id, presented: presented, to: desktop))
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

    func unreadCount(_ connection: Connection) throws(StoreError) -> Int64 { try Inbox(connection).counts.unread() }

    func successor(of desktop: PeerID, _ connection: Connection) throws(StoreError) -> PeerID? {
        try RevokedKeys(connection).successor(of: desktop)
    }
}
