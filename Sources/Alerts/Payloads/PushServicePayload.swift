package import JSON
package import Wire

/// What a push service brought: an APNs payload (`aps`) or an FCM message (`notification`, `data`, `fcm_options`), both as
/// the same content.
package struct PushServicePayload: Sendable, Equatable {
    package enum Kind: Sendable, Hashable {
        /// Something to see, and perhaps to be done as well: see ``isContentAvailable``.
        case alert
        /// Something for the program to do (`content-available`) and nothing to see.
        case silent
        /// The badge alone.
        case badge
    }

    package let kind: Kind
    /// `notificationId`, beside the data or in it.
    package var id: NotificationID?
    /// The desktop that it says it is from, beside the data or in it.
    package var desktop: PeerID?
    package var title = ""
    package var subtitle: String?
    package var body = ""
    /// Not negative; 0 clears.
    package var badge: Int64?
    /// As it was written; `none` = an APNs payload without one.
    package var sound: String?
    package var category: String?
    package var thread: String?
    package var collapseKey: String?
    package var priority = Priority.normal
    /// What is the program's own; travels back with the response.
    package var data: JSONObject = [:]
    /// `deepLink`, else `deep_link`, beside the data or in it.
    package var deepLink: String?
    /// For the inbox alone.
    package var isSilenced = false
    package var expiresAt: EpochMilliseconds?
    /// Whether the program is to do something as well.
    package var isContentAvailable = false
    /// Whether images and encrypted bodies of it count: an APNs payload has to say so.
    package var isMutable = true
    /// The image's address, valid and `https://`, of a mutable payload.
    package var image: String?
    /// `{nonce, box}`, of a mutable payload.
    package var encryptedBody: JSONObject?

    init(kind: Kind) { self.kind = kind }

    package var level: AlertLevel { AlertLevel(priority) }

    /// `nil` for what is neither, or says nothing at all.
    package static func decode(_ payload: JSONObject) -> PushServicePayload? {
        if let aps = payload["aps"] { return aps.object.flatMap { apns($0, in: payload) } }
        // FCM's own requests have the message inside one.
        let message = payload["message"]?.object ?? payload
        guard message["notification"]?.object != nil || message["data"]?.object != nil else { return nil }
        return fcm(message)
    }

    /// The push that it becomes.
    package func event(id: NotificationID) -> NotificationEvent {
        var richer = RicherFields()
        richer.subtitle = subtitle
        richer.badge = badge
        richer.sound = sound
        richer.category = category
        richer.threadID = thread
        richer.collapseKey = collapseKey
        richer.deepLink = deepLink
        richer.imageURL = image
        if isSilenced { richer.silenced = true }
        richer.expiresAt = expiresAt
        richer.encryptedBody = encryptedBody
        return NotificationEvent(
            id: id, title: title, body: body, priority: priority, data: data.isEmpty ? nil : data, richer: richer)
    }
}
