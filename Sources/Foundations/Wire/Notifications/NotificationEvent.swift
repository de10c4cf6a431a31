package import JSON

/// A push: `notification.received`.
package struct NotificationEvent: Sendable, Equatable {
    package var id: NotificationID
    package var title: String
    package var body: String
    package var priority: Priority
    package var source: NotificationSource
    /// `nil` when the sender did not say: then it is the moment of arrival.
    package var timestamp: EpochMilliseconds?
    package var data: JSONObject?
    package var richer: RicherFields
    /// The push's number for this device, from desktops with an outbox (WireSealing, "Delivery of pushes").
    package var pushSeq: Int64?

    package init(
        id: NotificationID, title: String, body: String = "", priority: Priority = .normal,
        source: NotificationSource = .pc, timestamp: EpochMilliseconds? = nil, data: JSONObject? = nil,
        richer: RicherFields = RicherFields(), pushSeq: Int64? = nil
    ) {
        self.id = id
        self.title = title
        self.body = body
        self.priority = priority
        self.source = source
        self.timestamp = timestamp
        self.data = data
        self.richer = richer
        self.pushSeq = pushSeq
    }

    /// Only the id is required; a field of a wrong type is an error that names it.
    init(decoding fields: JSONObject) throws(MalformedPayload) {
        let members = TypedMembers(fields, in: .event)
        id = NotificationID(try members.requiredID("notificationId", "id"))
        title = try members.text("title") ?? ""
        body = try members.text("body", "message") ?? ""
        priority = Priority(priority: fields["priority"], urgency: fields["urgency"])
        source = fields["source"]?.string.flatMap(NotificationSource.init(rawValue:)) ?? .pc
        timestamp = try members.integer("timestamp")
        data = try NotificationData.read(fields["data"], in: .event)
        richer = RicherFields(beside: fields, inside: data)
        pushSeq = try members.integer("pushSeq")
    }
}

extension NotificationEvent {
    /// The method of a targeted push (WireDeployedRequests, "Requests to a device").
    package static let requestMethod = "notification.receive"

    /// The push that a request of this method brings. Without an id it has the request's, so that a request that is
    /// repeated is one push. It has no number: only events are numbered.
    package init(request: CommandRequest) throws(MalformedPayload) {
        var fields = request.params
        if fields["notificationId"]?.string == nil, fields["id"]?.string == nil {
            fields["notificationId"] = .string(request.id.text)
        }
        do throws(MalformedPayload) { try self.init(decoding: fields) } catch {
            throw MalformedPayload(error.reason, in: error.kind, field: error.field, request: request.answerable)
        }
        pushSeq = nil
    }
}

extension Priority {
    /// A known `priority` decides, otherwise a known `urgency`; the default is normal.
    package init(priority: JSONValue?, urgency: JSONValue?) {
        self =
            priority?.string.flatMap(Priority.init(name:)) ?? urgency?.string.flatMap(Priority.init(name:)) ?? .normal
    }
}
