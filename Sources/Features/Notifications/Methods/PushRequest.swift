package import JSON
package import Wire

/// The parameters of `send`, `sendToMobile` and `broadcast` as a desktop reads them.
package struct PushRequest: Sendable, Equatable {
    package var title: String
    package var body: String
    package var icon: String?
    package var priority: Priority
    package var data: JSONObject?
    package var richer: RicherFields
    /// False = shown at any hour. `nil` = the sender did not say: it respects them.
    package var respectsQuietHours: Bool?
    /// When to push it, by the desktop's clock; `nil` = now.
    package var scheduledAt: EpochMilliseconds?
    /// Answer once it is stored, instead of waiting for the devices.
    package var answersWhenStored = false
    /// The group of devices that it is for; `nil` = all.
    package var group: String?

    /// In bytes of UTF-8.
    fileprivate static let titleLimit = 1_024
    fileprivate static let bodyLimit = 65_536
    fileprivate static let iconLimit = 65_536
    /// As JSON. With everything at its largest a push stays within a frame.
    fileprivate static let dataLimit = 262_144
    fileprivate static let richerLimit = 8_192

    /// A peer's parameters: both spellings, and unknown values where there is a default.
    package init(peer reader: ParameterReader) throws(NotificationsError) {
        title = try reader.value(.title)?.string ?? ""
        body = try reader.value(.body)?.string ?? ""
        icon = try reader.value(.icon)?.string
        respectsQuietHours = try reader.value(.respectQuietHours)?.bool
        scheduledAt = try reader.value(.scheduledAt)?.integer
        group = try reader.value(.group)?.string
        answersWhenStored = reader.params[Parameter.answerWhen.name]?.string == "stored"
        priority = Priority(priority: reader.params["priority"], urgency: reader.params["urgency"])
        if reader.present("data")?.string != nil {
            let text =
                try reader.value(Parameter(Parameter.data.name, .text(limit: PushRequest.dataLimit)))?.string ?? ""
            data = (try? JSONValue(parsing: text, depth: JSONValue.parameterDepthLimit))?.object
            guard text.isEmpty || data != nil else {
                throw .parameter(
                    "data",
                    "must be an object or a string with a JSON object, at most \(JSONValue.parameterDepthLimit) levels deep"
                )
            }
        } else {
            data = try reader.value(.data)?.object
        }
        richer = RicherFields(beside: reader.params, inside: data)
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

extension Parameter {
    static let title = Parameter("title", .text(limit: PushRequest.titleLimit)).required
    static let body = Parameter("body", .text(limit: PushRequest.bodyLimit)).alias("message").standard("")
    static let icon = Parameter("icon", .text(limit: PushRequest.iconLimit))
    /// On the wire as `urgency` as well.
    static let priority = Parameter("priority", .priority).standard("normal").written(.alsoAsUrgency)
    static let data = Parameter("data", .object(limit: PushRequest.dataLimit))
    /// In milliseconds since 1970.
    static let scheduledAt = Parameter("scheduledAt", .natural)
    static let answerWhen = Parameter("answerWhen", .choice(["stored", "delivered"]))
    /// For whom a program publishes, such as the name of a token: what it schedules has a share of its own.
    package static let publisher = Parameter("publisher", .text(limit: 64))
    static let group = Parameter("group", .text(limit: 64))
    /// How long it may wait for a desktop that is offline, in milliseconds: at most a day.
    package static let queueMilliseconds = Parameter("queueMs", .number(1...86_400_000)).written(.kept)
    static let respectQuietHours = Parameter("respectQuietHours", .flag)
    /// Also as the list that deployed desktops read.
    package static let deviceID = Parameter("deviceId", .id).written(.alsoInList("targetDevices"))
}

extension [Parameter] {
    /// The optional fields of a push (WireMessages, "Optional fields of a push").
    static let richer = RicherFields.names.map { name in
        switch name {
        case "silenced": Parameter(name, .flag)
        case "expiresAt", "badge": Parameter(name, .integer)
        case "encrypted_body": Parameter(name, .object(limit: 2 * PushRequest.bodyLimit))
        default: Parameter(name, .text(limit: PushRequest.richerLimit))  // the others are texts
        }
    }
}
