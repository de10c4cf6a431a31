package import JSON
package import Wire

/// The content of a push service's message: an APNs payload (`aps`) or an FCM message (`notification`, `data`,
/// `fcm_options`).
package struct PushServicePayload: Sendable {
    package enum Kind: Sendable, Hashable {
        /// Something to show, and possibly background work: see ``isContentAvailable``.
        case alert
        /// Background work only (`content-available`), nothing to show.
        case silent
        /// Only the badge changes.
        case badge
    }

    /// Limit of a payload, in bytes of JSON: that of a frame, since a push may come in either. Those of the services are
    /// far smaller.
    package static let limit = 1 << 20

    package let kind: Kind
    /// `notificationId`, beside the data or in it.
    package var id: NotificationID?
    /// The desktop that it claims to be from, beside the data or in it.
    package var desktop: PeerID?
    package var title = ""
    package var body = ""
    package var priority = Priority.normal
    /// The program's own members. They come back with the response.
    ///
    /// `localization` has the texts that are only named, by `title`, `subtitle` and `body`: `{"key","args"?}` each. In
    /// their place ``title``, ``body`` and the subtitle are the key; ``event(id:)`` has no key where people would read it.
    package var data: JSONObject = [:]
    /// The other fields of the push.
    ///
    /// - `badge` is never negative; 0 clears it.
    /// - `sound` is as written; `none` for an APNs payload without one.
    /// - `deepLink` is `deepLink`, else `deep_link`, beside the data or in it.
    /// - `imageURL` (valid, `https://`) and `encryptedBody` are set for mutable payloads only.
    package var richer = RicherFields()
    /// Whether it also asks for background work.
    package var isContentAvailable = false
    /// Whether images and encrypted bodies are used: an APNs payload must ask for it.
    package var isMutable = true

    init(kind: Kind) { self.kind = kind }

    package var level: AlertLevel { AlertLevel(priority) }

    /// `nil` if it is neither, or has no content.
    package static func decode(_ payload: JSONObject) -> PushServicePayload? {
        if let aps = payload["aps"] { return aps.object.flatMap { apns($0, in: payload) } }
        // FCM's HTTP requests wrap the message.
        let message = payload["message"]?.object ?? payload
        guard message["notification"]?.object != nil || message["data"]?.object != nil else { return nil }
        return fcm(message)
    }

    /// The push with this content.
    ///
    /// People read the texts that are there, or that something has come.
    package func event(id: NotificationID) -> NotificationEvent {
        var event = NotificationEvent(
            id: id, title: title, body: body, priority: priority, data: data.isEmpty ? nil : data, richer: richer)
        func isKey(_ text: String?, _ name: String) -> Bool {
            text != nil && data["localization"]?[name]?["key"]?.string == text
        }
        if isKey(title, "title") { event.title = "" }
        if isKey(richer.subtitle, "subtitle") { event.richer.subtitle = nil }
        if isKey(body, "body") { event.body = "" }
        if event.title.isEmpty, event.body.isEmpty, event.richer.subtitle == nil { event.body = "New notification" }
        return event
    }
}
