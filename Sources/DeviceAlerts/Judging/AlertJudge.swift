import Alerts
import Calendar
import JSON
package import Notifications
package import Store
package import Wire

/// Decides what becomes of the alert of a push before the push is stored, so that both enter the store together.
///
/// A value that any thread can use: make a new one for each transaction.
package struct AlertJudge: Sendable {
    let settings: AlertSettings
    let authorization: Authorization.Status
    let lateAlerts: LateAlerts
    let fetchesImages: Bool
    /// The title of a push that has none.
    let programName: String
    let now: EpochMilliseconds

    /// An alert with what becomes of it.
    package struct Judged: Sendable {
        let alert: NewAlert
        let decision: AlertDecision
        let imageURL: String?
        /// The stored alert, if it is to be shown.
        var row: AlertRow?
        /// Banners to take away.
        var obsolete: [String] = []
        /// The alerts that it replaces, apart from the one with its own key.
        var replaced: [AlertKey] = []
    }

    /// - Parameter isMutable: whether the alert may be enriched with the image that the push names.
    package func judge(_ notification: Notification, from desktop: PeerID, isMutable: Bool = true) -> Judged {
        let richer = notification.richer
        let content = AlertContent(
            push: notification.title.isEmpty ? programName : notification.title, subtitle: richer.subtitle,
            body: notification.body,
            priority: notification.priority, source: notification.source, category: richer.category,
            thread: richer.threadID, badge: richer.badge, sound: richer.sound, data: notification.data,
            deepLink: richer.deepLink)
        let alert = NewAlert(
            AlertKey(desktop: desktop, id: AlertID(notification.id.text)), content,
            dueAt: notification.receivedAt, source: notification.source.rawValue,
            isSilenced: notification.silenced, isLate: notification.late)
        return judge(alert, imageURL: isMutable ? imageURL(of: notification) : nil)
    }

    func judge(_ alert: NewAlert, imageURL: String? = nil) -> Judged {
        Judged(alert: alert, decision: decide(alert.subject), imageURL: imageURL)
    }

    func decide(_ subject: AlertSubject) -> AlertDecision {
        settings.decide(subject, authorization: authorization, lateAlerts: lateAlerts, at: now, .system)
    }

    /// The image of a push that waited in the store, which keeps neither the names in its data nor whether it is mutable.
    func namedImageURL(of notification: Notification) -> String? {
        guard fetchesImages else { return nil }
        return ImageSource.best(in: ["imageUrl": notification.richer.imageURL.map(JSONValue.string)])
    }

    /// An APNs payload must say that it is mutable.
    private func imageURL(of notification: Notification) -> String? {
        guard fetchesImages else { return nil }
        if let aps = notification.data?["aps"]?.object, aps["mutable-content"]?.integer != 1 { return nil }
        return ImageSource.best(in: [
            "imageUrl": notification.richer.imageURL.map(JSONValue.string),
            "data": notification.data.map(JSONValue.object),
        ])
    }
}

extension AlertJudge.Judged {
    /// Stores the alert, in the transaction of the push or reminder that it is made of. Give the result to
    /// ``DeviceAlerts/entered(_:)`` after the commit.
    ///
    /// - Parameter ids: the pushes that it replaces.
    package func saved(_ connection: Connection, replacing ids: [NotificationID] = []) throws(StoreError) -> Self {
        let table = AlertTable(connection)
        var saved = self
        if case .show = decision, try table.isFull() {
            // The inbox has it; nobody reads that many alerts.
            saved = AlertJudge.Judged(alert: alert, decision: .hide(.tooMany), imageURL: nil)
            return try saved.saved(connection, replacing: ids)
        }
        saved.replaced = ids.map { AlertKey(desktop: alert.key.desktop, id: AlertID($0.text)) }
        if case .hide = decision {
            // What it replaces would say what is no longer true.
            saved.obsolete = try table.remove(.keys([alert.key] + saved.replaced)).compactMap(\.handle)
            return saved
        }
        let added = try table.add(alert, replacing: saved.replaced.last?.id)
        saved.obsolete = added.obsolete
        if saved.replaced.count > 1 {
            saved.obsolete += try table.remove(.keys(saved.replaced.dropLast())).compactMap(\.handle)
        }
        switch decision {
        case .show: saved.row = try table.find(added.row)
        case .hold(let hold):
            if let handle = try table.hold(added.row, hold) { saved.obsolete.append(handle) }
        case .hide: break
        }
        return saved
    }
}

extension NewAlert {
    var subject: AlertSubject {
        AlertSubject(
            isSilenced: isSilenced, isLate: isLate, level: content.level, source: source, category: content.category,
            isReminder: isReminder)
    }
}
