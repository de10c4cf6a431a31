package import JSON
package import Wire

/// The parameters of `send`, `sendToMobile` and `broadcast`: what is to be told, and how.
package struct PushRequest: Sendable, Equatable {
    package var title: String
    package var body: String
    package var icon: String?
    package var priority: Priority
    package var data: JSONObject?
    package var richer: RicherFields
    /// False = shown at any hour. `nil` = the sender did not say: it respects them.
    package var respectsQuietHours: Bool?

    /// In bytes of UTF-8.
    package static let titleLimit = 1_024
    package static let bodyLimit = 65_536
    static let iconLimit = 65_536
    /// As JSON. With everything at its largest a push stays within a frame.
    static let dataLimit = 262_144
    static let richerLimit = 8_192

    static let names = ["title", "body", "priority", "data", quietHours] + RicherFields.names
    private static let quietHours = "respectQuietHours"

    /// The host's own parameters: every type is checked.
    package init(host reader: ParameterReader) throws(NotificationsError) {
        try self.init(common: reader)
        if let priority = try reader.text("priority", limit: 64) {
            guard let known = Priority(name: priority) else {
                throw .parameter("priority", "must be low, normal, high or urgent")
            }
            self.priority = known
        }
        data = try reader.object("data", limit: PushRequest.dataLimit)
        try PushRequest.checkRicher(reader)
        richer = RicherFields(beside: reader.params, inside: nil)
    }

    /// A peer's parameters: both spellings, and unknown values where there is a default.
    package init(peer reader: ParameterReader) throws(NotificationsError) {
        try self.init(common: reader)
        priority = Priority(priority: reader.params["priority"], urgency: reader.params["urgency"])
        if reader.present("data")?.string != nil {
            let text = try reader.text("data", limit: PushRequest.dataLimit) ?? ""
            data = (try? JSONValue(parsing: text, depth: JSONValue.parameterDepthLimit))?.object
            guard text.isEmpty || data != nil else {
                throw .parameter(
                    "data",
                    "must be an object, or a text holding the JSON of one, at most \(JSONValue.parameterDepthLimit) deep"
                )
            }
        } else {
            data = try reader.object("data", limit: PushRequest.dataLimit)
        }
        richer = RicherFields(beside: reader.params, inside: data)
    }

    private init(common reader: ParameterReader) throws(NotificationsError) {
        title = try reader.required("title", limit: PushRequest.titleLimit)
        body = try reader.text("body", "message", limit: PushRequest.bodyLimit) ?? ""
        icon = try reader.text("icon", limit: PushRequest.iconLimit)
        priority = .normal
        richer = RicherFields()
        respectsQuietHours = try reader.flag(PushRequest.quietHours)
    }

    private static func checkRicher(_ reader: ParameterReader) throws(NotificationsError) {
        _ = try reader.flag("silenced")
        for name in ["expiresAt", "badge"] { _ = try reader.integer(name) }
        for name in ["collapseKey", "imageUrl", "deepLink", "category", "threadId", "subtitle", "sound"] {
            _ = try reader.text(name, limit: richerLimit)
        }
        _ = try reader.object("encrypted_body", limit: 2 * bodyLimit)
    }

    /// On the wire, so that every desktop understands: `priority` and `urgency` (`protocol.md` 3).
    var wire: JSONObject {
        var params: JSONObject = [
            "title": .string(title),
            "body": .string(body),
            "icon": icon.map(JSONValue.string),
            "priority": .string(priority.name),
            "urgency": .string(priority.urgency),
            "data": data.map(JSONValue.object),
            PushRequest.quietHours: respectsQuietHours.map(JSONValue.bool),
        ]
        params.merge(richer.members)
        return params
    }

    /// The notification that it asks for.
    package func notification(
        id: NotificationID, source: NotificationSource, now: EpochMilliseconds
    ) -> Notification {
        Notification(
            id: id, title: title, body: body, priority: priority, source: source, createdAt: now, receivedAt: now,
            silenced: richer.silenced ?? false, data: data, richer: richer)
    }
}
