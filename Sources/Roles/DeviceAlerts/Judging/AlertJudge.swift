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
    var now: EpochMilliseconds
    /// By which alerts end; `nil` = by `now`.
    var expiry: EpochMilliseconds?

    /// An alert with what becomes of it.
    package struct Judged: Sendable {
        /// What is large of it, or never changes.
        private final class Origin: Sendable {
            let alert: NewAlert
            let imageURL: String?
            let burstLimit: Int64

            init(_ alert: NewAlert, _ imageURL: String?, _ burstLimit: Int64) {
                (self.alert, self.imageURL, self.burstLimit) = (alert, imageURL, burstLimit)
            }
        }

        /// An alert as it was stored.
        final class Stored: Sendable {
            let row: AlertRow

            init(_ row: AlertRow) { self.row = row }
        }

        private let origin: Origin
        var decision: AlertDecision
        /// The stored alert, if it is to be shown.
        var stored: Stored?
        /// Banners to take away.
        var obsolete: [String] = []
        /// The alerts that it replaces, apart from the one with its own key.
        var replaced: [AlertKey] = []
        /// The alert that made room for it, and waits for a digest.
        var displaced: Stored?

        init(alert: NewAlert, decision: AlertDecision, imageURL: String?, burstLimit: Int64 = 0) {
            (origin, self.decision) = (Origin(alert, imageURL, burstLimit), decision)
        }

        /// So many of one source alert within a second; 0 = all do.
        fileprivate var burstLimit: Int64 { origin.burstLimit }

        var alert: NewAlert { origin.alert }
        var imageURL: String? { origin.imageURL }
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
            isSilenced: notification.silenced, isLate: notification.late,
            expiresAt: richer.expiresAt)
        return judge(alert, imageURL: isMutable ? imageURL(of: notification) : nil)
    }

    func judge(_ alert: NewAlert, imageURL: String? = nil) -> Judged {
        let mayBurst = alert.isReminder || alert.content.level == .timeSensitive
        return Judged(
            alert: alert, decision: decide(alert.subject), imageURL: imageURL,
            burstLimit: mayBurst ? 0 : settings.burstLimit ?? 0)
    }

    func decide(_ subject: AlertSubject) -> AlertDecision {
        var subject = subject
        if let end = subject.expiresAt, let expiry, end > expiry { subject.expiresAt = nil }
        return settings.decide(subject, authorization: authorization, lateAlerts: lateAlerts, at: now, .system)
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
        if case .show = decision, burstLimit > 0, try table.isBurst(alert, limit: burstLimit) {
            saved.decision = .hold(.burst)
        }
        switch saved.decision {
        case .show:
            if let (row, handle) = try table.makeRoom() {
                if let handle { saved.obsolete.append(handle) }
                if row.row == added.row { saved.decision = .hold(.tooMany) } else { saved.displaced = Stored(row) }
            }
            if case .show = saved.decision { saved.stored = try table.find(added.row).map(Stored.init) }
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
            isReminder: isReminder, expiresAt: expiresAt)
    }
}
