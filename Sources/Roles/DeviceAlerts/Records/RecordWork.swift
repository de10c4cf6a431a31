import Alerts
import Hosting
import JSON
import Notifications
import Store
import Wire

/// The store jobs of ``AlertRecords``.
indirect enum RecordWork: StoreWork {
    /// Reads the delivered alerts, for the host.
    case list(Then)
    /// Removes delivered alerts for the host. `isOne`: it named one, so there must be one.
    case remove(AlertTable.Which, isOne: Bool, Then)
    /// Removes the alerts of a desktop that was unpaired.
    case forget(PeerID)
    /// Removes the alerts of pushes that were read or deleted, also from the digests.
    case removeSettled
    /// Removes delivered alerts whose banners are gone with their server, by their handles.
    case removeLost(@Sendable (String) -> Bool)
    case respond(NewResponse, Then)

    indirect enum Outcome: Sendable {
        case alerts([AlertRow])
        case removed([AlertTable.Removed])
        case response(StoredResponse)
    }

    func run(_ store: AlertTransaction) throws(StoreError) -> Outcome {
        switch self {
        case .list: return .alerts(try store.alerts.delivered(bytes: AlertTable.deliveredBytes))
        case .remove(.keys(let keys), _, _):
            var current: [AlertKey] = []
            for key in keys { current.append(try store.current(key)) }
            return .removed(try store.alerts.remove(.keys(current), deliveredOnly: true))
        case .remove(let which, _, _): return .removed(try store.alerts.remove(which, deliveredOnly: true))
        case .forget(let desktop):
            let removed = try store.alerts.remove(.desktop(desktop))
            try Self.sweepImages(store, without: desktop)
            return .removed(removed)
        case .removeSettled: return .removed(try Self.removeSettledAlerts(store))
        case .removeLost(let isLost):
            let lost = try store.alerts.delivered().filter { $0.handle.map(isLost) ?? false }
            return .removed(try store.alerts.remove(.keys(lost.map(\.key)), deliveredOnly: true))
        case .respond(let response, _): return .response(try response.store(store))
        }
    }

    /// ``removeSettled``, for work that does more in the same transaction.
    static func removeSettledAlerts(_ store: AlertTransaction) throws(StoreError) -> [AlertTable.Removed] {
        var settled: [AlertKey] = []
        for (key, desktop) in try store.alerts.ofDesktops() {
            let id = NotificationID(key.id.text)
            if try !store.inbox.isUnread(id, of: desktop, store.connection) { settled.append(key) }
        }
        try sweepImages(store)
        return try store.alerts.remove(.keys(settled))
    }

    /// Images go with the pushes that were deleted.
    private static func sweepImages(
        _ store: AlertTransaction, without forgotten: PeerID? = nil
    ) throws(StoreError) {
        try AlertImages(store.connection).sweep { (id, desktop) throws(StoreError) in
            if desktop == forgotten { return false }
            return try store.inbox.notification(id, of: desktop, store.connection) != nil
        }
    }

    var isAwaited: Bool {
        switch self {
        case .list, .remove, .forget: true
        case .removeSettled, .removeLost, .respond: false
        }
    }

    var failureReport: String? {
        switch self {
        case .list, .remove: nil
        case .forget: "could not remove a desktop's alerts"
        case .removeSettled: "could not remove alerts of read notifications"
        case .removeLost: "could not remove the alerts of a notification server that has ended"
        case .respond: "could not store a response to an alert"
        }
    }
}

extension AlertTransaction {
    /// A banner has the id that its desktop had when it was shown; its row has the one after a move (WireRekey, "Switch").
    fileprivate func current(_ key: AlertKey) throws(StoreError) -> AlertKey {
        guard let desktop = key.desktop, let successor = try inbox.successor(of: desktop, connection) else {
            return key
        }
        return AlertKey(desktop: successor, id: key.id)
    }
}

/// The outcome of a response.
enum StoredResponse: Sendable {
    /// `isDisplaced`: an older response that waited for the host gave way to it.
    case stored(AlertRow, AlertResponse, isDisplaced: Bool)
    /// No such alert was shown, or it was answered before.
    case unknown
    case refused(AlertsError)
}

/// A person's response to an alert.
struct NewResponse: Sendable {
    let key: AlertKey
    let action: String
    let text: String?
    let categories: Categories
    /// Rows on the screen that are not recorded as delivered yet.
    let presentingRows: Set<Int64>
    let at: EpochMilliseconds

    /// Keeps the response for the host, and drops the alert.
    func store(_ store: AlertTransaction) throws(StoreError) -> StoredResponse {
        let key = try store.current(self.key)
        guard let alert = try store.alerts.find(key),
            alert.state == .delivered || presentingRows.contains(alert.row)
        else { return .unknown }
        let response: AlertResponse
        do throws(AlertsError) {
            response = try AlertResponse(
                action: action, text: text, category: alert.content.category.flatMap { categories[$0] })
        } catch {
            return .refused(error)
        }
        var push: JSONObject?
        if let desktop = key.desktop {
            let id = NotificationID(key.id.text)
            push = try store.inbox.notification(id, of: desktop, store.connection)?.receivedData()
        }
        let data = response.data(of: alert, push: push, at: at)
        let hadRoom = try KeptEvents(store.connection).add(
            HostEvent(.notificationResponse, desktop: key.desktop?.text, data: data))
        try store.alerts.drop(alert.row)
        return .stored(alert, response, isDisplaced: !hadRoom)
    }
}
