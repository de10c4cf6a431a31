package import JSON

/// The possible responses to alerts: kinds of alerts, with their buttons and replies.
package struct Categories: Sendable, Equatable {
    package struct Action: Sendable, Equatable {
        package enum Kind: String, Sendable, CaseIterable {
            case button
            /// The person writes a text.
            case reply
        }

        package let id: String
        package let title: String
        package let kind: Kind
        /// Of a reply: what stands in its empty field.
        package let placeholder: String?
        /// The program comes to the front by it.
        package let isForeground: Bool
        package let isDestructive: Bool

        package init(
            id: String, title: String, kind: Kind = .button, placeholder: String? = nil, isForeground: Bool = false,
            isDestructive: Bool = false
        ) {
            self.id = id
            self.title = title
            self.kind = kind
            self.placeholder = placeholder
            self.isForeground = isForeground
            self.isDestructive = isDestructive
        }

        package var json: JSONObject {
            [
                "id": .string(id), "title": .string(title), "kind": .string(kind.rawValue),
                "placeholder": placeholder.map(JSONValue.string), "foreground": .bool(isForeground),
                "destructive": .bool(isDestructive),
            ]
        }
    }

    package struct Category: Sendable, Equatable {
        package let id: String
        package let actions: [Action]

        package init(id: String, actions: [Action]) { (self.id, self.actions) = (id, actions) }

        package subscript(action id: String) -> Action? { actions.first { $0.id == id } }

        package var json: JSONObject {
            ["id": .string(id), "actions": .array(actions.map { .object($0.json) })]
        }
    }

    package static let limit = 64
    package static let actionLimit = 8
    /// That of the pushes that name none.
    package static let remote = "REMOTE_NOTIFICATION"

    package private(set) var all: [Category]

    /// The built-in one alone.
    package init() { all = [Self.builtIn] }

    package subscript(id: String) -> Category? { all.first { $0.id == id } }

    package var json: JSONValue { .array(all.map { .object($0.json) }) }

    private static let builtIn = builtIn(in: .english)

    private static func builtIn(in language: AlertLanguage) -> Category {
        Category(id: remote, actions: [Action(id: AlertResponse.markRead, title: language.markRead)])
    }

    /// What a user can do with an alert of that category; the built-in one speaks the user's language.
    package func actions(of id: String?, in language: AlertLanguage) -> [Action] {
        guard let category = id.flatMap({ self[$0] }) else { return [] }
        return category == Self.builtIn ? Self.builtIn(in: language).actions : category.actions
    }
}

extension Categories {
    /// A host's: `[{"id","actions":[{"id","title","kind"?,"placeholder"?,"foreground"?,"destructive"?}]}]`, in place of
    /// all before. The built-in one is among them unless the host has its own of that id.
    package init(parsing value: JSONValue) throws(AlertsError) { try self.init(value, limit: Self.limit) }

    /// What was stored, the built-in one among them. What cannot be read is none.
    package init(stored value: JSONValue) {
        self = (try? Categories(value, limit: Self.limit + 1)) ?? Categories()
    }

    private init(_ value: JSONValue, limit: Int) throws(AlertsError) {
        guard let elements = value.array else {
            throw AlertsError("the categories must be an array, not \(value.typeName)")
        }
        guard elements.count <= limit else { throw AlertsError("more than \(limit) categories") }
        var all: [Category] = []
        for (index, element) in elements.enumerated() {
            let place = "\(index)"
            let category = try Self.category(element, place)
            guard !all.contains(where: { $0.id == category.id }) else {
                throw AlertsError("\(place).id: is a duplicate", field: "\(place).id")
            }
            all.append(category)
        }
        if !all.contains(where: { $0.id == Self.remote }) { all.append(Self.builtIn) }
        self.all = all
    }

    private static func category(_ value: JSONValue, _ place: String) throws(AlertsError) -> Category {
        let reader = try FieldReader(element: value, allowing: ["id", "actions"], at: place)
        guard let id = try reader.plainText("id", 1...AlertContent.nameLimit) else {
            throw reader.fault("id", "is missing")
        }
        var actions: [Action] = []
        for (index, element) in (try reader.array("actions", limit: actionLimit) ?? []).enumerated() {
            let place = "\(place).actions.\(index)"
            let action = try Self.action(element, place)
            guard !actions.contains(where: { $0.id == action.id }) else {
                throw AlertsError("\(place).id: is a duplicate", field: "\(place).id")
            }
            // A server has one field to write into.
            guard action.kind == .button || !actions.contains(where: { $0.kind == .reply }) else {
                throw AlertsError("\(place).kind: only one \"reply\" per category is allowed", field: "\(place).kind")
            }
            actions.append(action)
        }
        return Category(id: id, actions: actions)
    }

    private static func action(_ value: JSONValue, _ place: String) throws(AlertsError) -> Action {
        let reader = try FieldReader(
            element: value, allowing: ["id", "title", "kind", "placeholder", "foreground", "destructive"], at: place)
        guard let id = try reader.plainText("id", 1...AlertContent.nameLimit) else {
            throw reader.fault("id", "is missing")
        }
        guard id != AlertResponse.tap, id != AlertResponse.dismiss else {
            throw reader.fault("id", "is reserved")
        }
        guard let title = try reader.plainText("title", 1...AlertContent.nameLimit) else {
            throw reader.fault("title", "is missing")
        }
        guard let kind = Action.Kind(rawValue: try reader.text("kind", 0...64) ?? Action.Kind.button.rawValue) else {
            throw reader.fault("kind", "must be \"button\" or \"reply\"")
        }
        let placeholder = try reader.plainText("placeholder", 0...AlertContent.nameLimit)
        switch kind {
        case .button:
            guard placeholder == nil else { throw reader.fault("placeholder", "is only allowed for \"reply\"") }
            guard id != AlertResponse.reply else { throw reader.fault("kind", "must be \"reply\" for this id") }
        case .reply:
            guard id != AlertResponse.markRead else { throw reader.fault("kind", "must be \"button\" for this id") }
        }
        return Action(
            id: id, title: title, kind: kind, placeholder: placeholder,
            isForeground: try reader.flag("foreground") ?? false,
            isDestructive: try reader.flag("destructive") ?? false)
    }
}

extension FieldReader {
    /// For an object that stands in an array.
    fileprivate init(element value: JSONValue, allowing names: [String], at place: String) throws(AlertsError) {
        guard let object = value.object else {
            throw AlertsError("\(place): must be an object, not \(value.typeName)", field: place)
        }
        try self.init(object, allowing: names, in: place + ".")
    }
}
