package import JSON

/// A validated notification from a request.
package struct Publication: Sendable, Equatable {
    package let topic: String
    package var message = ""
    package var title: String?
    /// 1 to 5; 3 is the normal one.
    package var priority = 3
    package var tags: [String] = []
    package var click: String?
    package var icon: String?
    /// The https URL of an image.
    package var attachment: String?
    /// The category of the device that gives an alert its buttons.
    package var category: String?
    package var actions: [Action] = []
    /// Milliseconds since 1970; `nil` = now.
    package var moment: Int64?
    /// The group of devices that its token is for.
    package var group: String?
    /// The name of its token; empty = none was needed.
    package var publisher = ""

    package struct Action: Sendable, Equatable {
        let label: String
        let url: String

        var json: JSONValue { ["action": "view", "label": .string(label), "url": .string(url)] }
    }

    /// In bytes, as the desktop has them.
    static let titleLimit = 1_024
    static let messageLimit = 65_536
    /// Of tags, links and actions.
    static let fieldLimit = 4_096
    static let listLimit = 32

    init(topic: String) throws(DoorError) {
        guard Self.isTopic(topic) else { throw .topic }
        self.topic = topic
    }

    static func isTopic(_ text: String) -> Bool {
        1...64 ~= text.utf8.count
            && text.utf8.allSatisfy { byte in
                0x30...0x39 ~= byte || 0x41...0x5a ~= byte || 0x61...0x7a ~= byte || byte == 0x2d || byte == 0x5f
            }
    }

    /// What `bw_desktop_notify()` takes.
    ///
    /// - Parameter groups: those that the desktop has. A topic with the name of a group goes to that group.
    package func parameters(groups: Set<String>) -> JSONObject {
        var data: JSONObject = ["topic": .string(topic)]
        if !tags.isEmpty { data["tags"] = .string(tags.joined(separator: ",")) }
        if let icon { data["icon"] = .string(icon) }
        if !actions.isEmpty { data["actions"] = .string(JSONValue.array(actions.map(\.json)).serialized()) }
        let group = group ?? (groups.contains(topic) ? topic : nil)
        return [
            "title": .string(title ?? topic), "body": .string(message), "priority": .string(priorityName),
            "data": .object(data), "threadId": .string(topic), "deepLink": link.map(JSONValue.string),
            "imageUrl": attachment.map(JSONValue.string), "category": category.map(JSONValue.string),
            "scheduledAt": moment.map(JSONValue.integer), "group": group.map(JSONValue.string),
            "publisher": moment == nil ? nil : .string(publisher),
        ]
    }

    /// What a device opens. The buttons of its alerts are of its own categories, so that of the actions, which are links
    /// as well, the first takes the place of a missing one.
    private var link: String? { click ?? actions.first?.url }

    private var priorityName: String {
        switch priority {
        case ...2: "low"
        case 3: "normal"
        case 4: "high"
        default: "urgent"
        }
    }

    /// The message object with which ntfy answers.
    ///
    /// - Parameter now: milliseconds since 1970.
    package func answer(id: String, now: Int64) -> JSONValue {
        [
            "id": .string(id), "time": .integer((moment ?? now) / 1_000), "event": "message",
            "topic": .string(topic), "title": title.map(JSONValue.string), "message": .string(message),
            "priority": priority == 3 ? nil : .integer(Int64(priority)),
            "tags": tags.isEmpty ? nil : .array(tags.map(JSONValue.string)),
            "click": click.map(JSONValue.string), "icon": icon.map(JSONValue.string),
            "actions": actions.isEmpty ? nil : .array(actions.map(\.json)),
            "attachment": attachment.map { ["name": "attachment", "url": .string($0)] },
        ]
    }
}
