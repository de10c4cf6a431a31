package import JSON

/// One row of a history result, as an item of ours or as a row of a deployed desktop's database.
package struct HistoryRow: Sendable, Equatable {
    package var id: NotificationID
    package var title: String
    package var body: String
    package var priority: Priority
    package var source: NotificationSource
    package var read: Bool
    /// `nil` when the row does not say.
    package var createdAt: EpochMilliseconds?
    package var readAt: EpochMilliseconds?
    package var data: JSONObject?
    package var richer: RicherFields

    package init(
        id: NotificationID, title: String, body: String = "", priority: Priority = .normal,
        source: NotificationSource = .pc, read: Bool = false, createdAt: EpochMilliseconds? = nil,
        readAt: EpochMilliseconds? = nil, data: JSONObject? = nil, richer: RicherFields = RicherFields()
    ) {
        self.id = id
        self.title = title
        self.body = body
        self.priority = priority
        self.source = source
        self.read = read
        self.createdAt = createdAt
        self.readAt = readAt
        self.data = data
        self.richer = richer
    }

    /// Both spellings of every column. Only the id is required; a wrong type makes a bad row.
    package init(decoding value: JSONValue) throws(MalformedPayload) {
        guard let row = value.object else { throw MalformedPayload(.notAnObject, in: .row) }
        let members = TypedMembers(row, in: .row)
        id = NotificationID(try members.requiredID("id", "notificationId"))
        title = try members.text("title") ?? ""
        body = try members.text("body", "message") ?? ""
        priority = Priority(priority: row["priority"], urgency: row["urgency"])
        source = row["source"]?.string.flatMap(NotificationSource.init(rawValue:)) ?? .pc
        read = try HistoryRow.flag(row["read"])
        createdAt = try members.integer("createdAt", "created_at", "timestamp")
        readAt = try members.integer("readAt", "read_at")
        data = try NotificationData.read(row["data"], in: .row)
        richer = RicherFields(beside: row, inside: data)
    }

    /// A boolean, or the 0 and 1 of a database.
    private static func flag(_ value: JSONValue?) throws(MalformedPayload) -> Bool {
        switch value ?? .null {
        case .null: return false
        case .bool(let flag): return flag
        case .integer(let number): return number != 0
        case .double(let number): return number != 0
        case .string, .array, .object: throw MalformedPayload(.wrongType, in: .row, field: "read")
        }
    }
}

extension HistoryRow {
    /// A history item (WireMessages, "Values of the history and the settings"). For a deployed phone `data` is text ->
    /// text, and nothing is added; a Bellwire device gets the optional fields beside it.
    package func item(isBellwire: Bool) -> JSONObject {
        var item: JSONObject = [
            "id": .string(id.text),
            "title": .string(title),
            "body": .string(body),
            "priority": .string(priority.name),
            "read": .bool(read),
            "source": .string(source.rawValue),
            "createdAt": .integer(createdAt ?? 0),
            "readAt": readAt.map(JSONValue.integer),
            "data": data.map { .object(isBellwire ? $0 : NotificationData.texts($0)) },
        ]
        if isBellwire { item.merge(richer.members) }
        return item
    }
}
