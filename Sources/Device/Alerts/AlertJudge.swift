import Alerts
import Calendar
import JSON
import Notifications
import Store
import Wire

/// Decides what becomes of pushes before they are stored, so that the decision enters the store with them.
///
/// A copy of what decides, for one piece of work on the store.
struct AlertJudge: Sendable {
    let settings: AlertSettings
    let authorization: Authorization.Status
    let lateAlerts: LateAlerts
    let fetchesImages: Bool
    /// The title of a push that has none.
    let programName: String
    let now: EpochMilliseconds

    /// A push with what becomes of its alert.
    struct Judged: Sendable {
        let alert: NewAlert
        let decision: AlertDecision
        let imageURL: String?
        /// Where it stands in the table: only of what is shown.
        var row: AlertRow?
        /// Banners that have no place any more.
        var obsolete: [String] = []
        /// What it takes the place of, but for its own key.
        var replaced: [AlertKey] = []
    }

    /// - Parameter isMutable: whether it is to be shown with what it names: its image.
    func judge(_ notification: Notification, from desktop: PeerID, isMutable: Bool = true) -> Judged {
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

    /// Of one that waited in the store: what its data names besides was not kept, nor whether it was to be looked at.
    func namedImageURL(of notification: Notification) -> String? {
        guard fetchesImages else { return nil }
        return ImageSource.best(in: ["imageUrl": notification.richer.imageURL.map(JSONValue.string)])
    }

    /// An APNs payload has to say that it may be changed.
    func imageURL(of notification: Notification) -> String? {
        guard fetchesImages else { return nil }
        if let aps = notification.data?["aps"]?.object, aps["mutable-content"]?.integer != 1 { return nil }
        return ImageSource.best(in: [
            "imageUrl": notification.richer.imageURL.map(JSONValue.string),
            "data": notification.data.map(JSONValue.object),
        ])
    }
}

extension AlertJudge.Judged {
    /// Into the store, in the transaction of what it is made of.
    ///
    /// - Parameter ids: of pushes whose place it takes.
    func saved(_ connection: Connection, replacing ids: [NotificationID] = []) throws(StoreError) -> Self {
        let table = AlertTable(connection)
        var saved = self
        if case .show = decision, try table.isFull() {
            // The inbox has it; so many alerts are of no use to anybody.
            saved = AlertJudge.Judged(alert: alert, decision: .hide(.tooMany), imageURL: nil)
            return try saved.saved(connection, replacing: ids)
        }
        saved.replaced = ids.map { AlertKey(desktop: alert.key.desktop, id: AlertID($0.text)) }
        if case .hide = decision {
            // What it replaces would say what is no longer so.
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
