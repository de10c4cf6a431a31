package import JSON
package import Wire

/// A notification as we keep it.
package struct Notification: Sendable, Equatable {
    package var id: NotificationID
    package var title: String
    package var body: String
    package var priority: Priority
    package var source: NotificationSource
    /// By its sender's clock.
    package var createdAt: EpochMilliseconds
    /// By our clock.
    package var receivedAt: EpochMilliseconds
    /// For the history alone: no banner.
    package var silenced: Bool
    /// It did not come live: from a history, an outbox, or a relay's store.
    package var late: Bool
    package var read: Bool
    package var readAt: EpochMilliseconds?
    package var data: JSONObject?
    package var richer: RicherFields
    /// It came sealed through a push service, and no session has confirmed it yet (WirePrekeys, "Hints").
    package var isHint = false

    package init(
        id: NotificationID, title: String, body: String = "", priority: Priority = .normal,
        source: NotificationSource = .pc, createdAt: EpochMilliseconds, receivedAt: EpochMilliseconds,
        silenced: Bool = false, late: Bool = false, read: Bool = false, readAt: EpochMilliseconds? = nil,
        data: JSONObject? = nil, richer: RicherFields = RicherFields()
    ) {
        self.id = id
        self.title = title
        self.body = body
        self.priority = priority
        self.source = source
        self.createdAt = createdAt
        self.receivedAt = receivedAt
        self.silenced = silenced
        self.late = late
        self.read = read
        self.readAt = readAt
        self.data = data
        self.richer = richer
    }

    /// A push that has come.
    package init(_ event: NotificationEvent, receivedAt: EpochMilliseconds, late: Bool = false) {
        self.init(
            id: event.id, title: event.title, body: event.body, priority: event.priority, source: event.source,
            createdAt: event.timestamp ?? receivedAt, receivedAt: receivedAt, silenced: event.richer.silenced ?? false,
            late: late, data: event.data, richer: event.richer)
    }

    /// A row of a desktop's history. It is late: what comes live comes as an event.
    package init(_ row: HistoryRow, receivedAt: EpochMilliseconds) {
        self.init(
            id: row.id, title: row.title, body: row.body, priority: row.priority, source: row.source,
            createdAt: row.createdAt ?? receivedAt, receivedAt: receivedAt, silenced: row.richer.silenced ?? false,
            late: true, read: row.read, readAt: row.readAt, data: row.data, richer: row.richer)
    }

    /// The push that tells a device of it.
    package var event: NotificationEvent {
        NotificationEvent(
            id: id, title: title, body: body, priority: priority, source: source, timestamp: createdAt, data: data,
            richer: richer)
    }

    /// An item of a history result (WireMessages, "Values of the history and the settings").
    package func historyItem(isBellwire: Bool) -> JSONObject {
        HistoryRow(
            id: id, title: title, body: body, priority: priority, source: source, read: read, createdAt: createdAt,
            readAt: readAt, data: data, richer: richer
        ).item(isBellwire: isBellwire)
    }

    /// The `data` of the host's event `notification.received`, as `bellwire.h` describes it.
    ///
    /// - Parameter redelivered: the process died during an earlier hand-over; the host may have it already.
    package func receivedData(redelivered: Bool = false) -> JSONObject {
        var object: JSONObject = [
            "id": .string(id.text),
            "title": .string(title),
            "body": .string(body),
            "priority": .string(priority.name),
            "source": .string(source.rawValue),
            "createdAt": .integer(createdAt),
            "receivedAt": .integer(receivedAt),
            "silenced": .bool(silenced),
            "late": .bool(late),
            "data": .object(data ?? [:]),
        ]
        for member in richer.members.members where object[member.key] == nil { object[member.key] = member.value }
        if isHint { object["hint"] = true }
        if redelivered { object["redelivered"] = true }
        return object
    }
}
