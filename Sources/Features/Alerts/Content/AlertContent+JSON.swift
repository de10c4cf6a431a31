package import JSON

extension AlertContent {
    /// The members of its JSON, for readers of objects that also have other members.
    package static let fields = [
        "title", "subtitle", "body", "badge", "sound", "category", "thread", "userInfo", "deepLink", "attachments",
        "level",
    ]

    package static let titleLimit = 1_024
    package static let bodyLimit = 65_536
    package static let nameLimit = 256
    package static let pathLimit = 4_096
    package static let userInfoLimit = 65_536
    package static let attachmentLimit = 8

    /// A host's alert. Anything that is not as it must be is an error that names the field.
    ///
    /// - Parameter place: prefix of field names in errors, such as `content.`
    package init(parsing object: JSONObject, in place: String = "") throws(AlertsError) {
        let reader = try FieldReader(object, allowing: AlertContent.fields, in: place)
        self.init(
            title: try reader.required("title", 1...AlertContent.titleLimit),
            subtitle: try reader.text("subtitle", 0...AlertContent.titleLimit),
            body: try reader.text("body", 0...AlertContent.bodyLimit) ?? "",
            badge: try reader.integer("badge", in: 0...Int64(Int32.max)),
            sound: try reader.plainText("sound", 1...AlertContent.pathLimit),
            category: try reader.plainText("category", 1...AlertContent.nameLimit),
            thread: try reader.plainText("thread", 1...AlertContent.nameLimit),
            userInfo: try reader.object("userInfo", limit: AlertContent.userInfoLimit) ?? [:],
            deepLink: try reader.plainText("deepLink", 1...AlertContent.pathLimit))
        if let elements = try reader.array("attachments", limit: AlertContent.attachmentLimit) {
            for element in elements {
                guard let path = element.string, path.utf8.first == UInt8(ascii: "/"),
                    path.utf8.count <= AlertContent.pathLimit, PlainText.isPlain(path)
                else { throw reader.fault("attachments", "must be absolute file paths") }
                attachments.append(path)
            }
        }
        if let name = try reader.text("level", 0...64) {
            guard let level = AlertLevel(rawValue: name) else {
                throw reader.fault("level", "must be \"passive\", \"active\" or \"timeSensitive\"")
            }
            self.level = level
        }
    }

    /// A stored alert. Unreadable members get their default, because a push's texts have other limits than a program's.
    package init(stored object: JSONObject) {
        self.init(
            title: object["title"]?.string ?? "", subtitle: object["subtitle"]?.string,
            body: object["body"]?.string ?? "", badge: object["badge"]?.integer, sound: object["sound"]?.string,
            category: object["category"]?.string, thread: object["thread"]?.string,
            userInfo: object["userInfo"]?.object ?? [:], deepLink: object["deepLink"]?.string,
            attachments: (object["attachments"]?.array ?? []).compactMap(\.string),
            level: object["level"]?.string.flatMap(AlertLevel.init(rawValue:)) ?? .active)
    }

    /// What there is of it.
    package var json: JSONObject {
        var json: JSONObject = ["title": .string(title)]
        json["subtitle"] = subtitle.map(JSONValue.string)
        json["body"] = .string(body)
        json["badge"] = badge.map(JSONValue.integer)
        json["sound"] = sound.map(JSONValue.string)
        json["category"] = category.map(JSONValue.string)
        json["thread"] = thread.map(JSONValue.string)
        if !userInfo.isEmpty { json["userInfo"] = .object(userInfo) }
        json["deepLink"] = deepLink.map(JSONValue.string)
        if !attachments.isEmpty { json["attachments"] = .array(attachments.map(JSONValue.string)) }
        json["level"] = .string(level.rawValue)
        return json
    }
}
