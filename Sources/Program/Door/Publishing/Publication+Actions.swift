import JSON

extension Publication.Action {
    /// `view, Open, https://example.org; …`, also with names (`label=Open`) and in quotes; or a JSON list.
    static func list(_ text: String) throws(DoorError) -> [Self] {
        if text.hasPrefix("[") {
            guard let list = (try? LoneSurrogates.value(of: text))?.array else { throw .actions }
            return try self.list(list)
        }
        var words = ActionWords(text)
        var actions: [Self] = []
        while var fields = try words.next() {
            // Names first: what has none takes its place in order.
            var values: [String: String] = [:]
            fields.removeAll { field in
                guard let name = field.name else { return false }
                values[name] = field.value
                return true
            }
            for name in ["action", "label", "url"] where values[name] == nil && !fields.isEmpty {
                values[name] = fields.removeFirst().value
            }
            guard values["action"]?.lowercased() == "view" else { throw .actions }
            guard fields.isEmpty else { throw .actionParts }
            actions.append(try .init(checking: values["label"] ?? "", url: values["url"] ?? ""))
        }
        return try checked(actions)
    }

    static func list(_ values: [JSONValue]) throws(DoorError) -> [Self] {
        var actions: [Self] = []
        for value in values {
            guard value["action"]?.string?.lowercased() == "view", let label = value["label"]?.string,
                let url = value["url"]?.string
            else { throw .actions }
            actions.append(try .init(checking: label, url: url))
        }
        return try checked(actions)
    }

    private init(checking label: String, url: String) throws(DoorError) {
        guard 1...256 ~= label.utf8.count, 1...Publication.fieldLimit ~= url.utf8.count, url.contains(":") else {
            throw .actions
        }
        (self.label, self.url) = (label, url)
    }

    /// ntfy takes three.
    private static func checked(_ actions: [Self]) throws(DoorError) -> [Self] {
        guard actions.count <= 3 else { throw .actions }
        return actions
    }
}

/// Splits a list of actions into its fields. A field in quotes may have commas and semicolons; `\"` is a quote in it.
private struct ActionWords {
    struct Field {
        /// `nil`: its place says what it is.
        let name: String?
        let value: String
    }

    private static let names: Set<String> = [
        "action", "label", "url", "clear", "method", "body", "intent", "value",
    ]

    private var rest: Substring

    init(_ text: String) { rest = text[...] }

    /// The fields of the next action.
    mutating func next() throws(DoorError) -> [Field]? {
        skip { $0.isWhitespace || $0 == ";" }
        guard !rest.isEmpty else { return nil }
        var fields: [Field] = []
        while true {
            fields.append(try field())
            guard rest.popFirst() == "," else { return fields }
        }
    }

    private mutating func field() throws(DoorError) -> Field {
        skip { $0.isWhitespace }
        var name: String?
        let word = rest.prefix { $0 != "=" && $0 != "," && $0 != ";" }
        if rest.dropFirst(word.count).first == "=", Self.names.contains(word.trimmed.lowercased()) {
            name = word.trimmed.lowercased()
            rest = rest.dropFirst(word.count + 1)
            skip { $0.isWhitespace }
        }
        guard let quote = rest.first, quote == "\"" || quote == "'" else {
            let value = rest.prefix { $0 != "," && $0 != ";" }
            rest = rest.dropFirst(value.count)
            return Field(name: name, value: value.trimmed)
        }
        rest.removeFirst()
        var value = ""
        while let character = rest.popFirst() {
            guard character == quote else {
                // Other backslashes stay.
                value.append(character == "\\" && rest.first == quote ? rest.removeFirst() : character)
                continue
            }
            skip { $0.isWhitespace }
            guard rest.isEmpty || rest.first == "," || rest.first == ";" else { break }
            return Field(name: name, value: value)
        }
        throw .actions
    }

    private mutating func skip(_ isSkipped: (Character) -> Bool) { rest = rest.drop(while: isSkipped) }
}
