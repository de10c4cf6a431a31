import JSON
package import Transport

extension Publication {
    /// Reads a request: the topic is in its path, or in the JSON object that it posts to `/`.
    ///
    /// - Parameter now: milliseconds since 1970.
    package init(_ head: HTTPRequestHead, body: [UInt8], now: Int64) throws(DoorError) {
        guard head.path == "/" else {
            try self.init(fields: HeaderFields(head), topic: String(head.path.dropFirst()), body: body, now: now)
            try check()
            return
        }
        guard let text = String(validating: body, as: UTF8.self) else { throw .notUTF8 }
        guard let object = (try? JSONValue(parsing: text, depth: 8))?.object else { throw .notJSON }
        guard let topic = object["topic"]?.string else { throw .notJSON }
        // What the object doesn't say may stand in the headers.
        try self.init(fields: HeaderFields(head), topic: topic, body: [], now: now)
        try take(object, now: now)
        try check()
    }

    private init(fields: HeaderFields, topic: String, body: [UInt8], now: Int64) throws(DoorError) {
        try self.init(topic: topic)
        for (what, names) in Self.missing where try fields.value(names.0, names.1, names.2) != nil {
            throw .unsupported(what)
        }
        attachment = try fields.value("X-Attach", "Attach", "a")
        if attachment == nil, try fields.value("X-Filename", "Filename", "file", "f") != nil { throw .attachmentFile }
        let given = try fields.value("X-Message", "Message", "m")
        guard let text = String(validating: body, as: UTF8.self) else { throw .notUTF8 }
        // With the message in a header the body is a file.
        if given != nil, !text.isEmpty { throw .attachmentFile }
        message = given.map(Self.unescapedLines) ?? text
        title = try fields.value("X-Title", "Title", "ti", "t")
        if let text = try fields.value("X-Priority", "Priority", "prio", "p") { priority = try Self.priority(text) }
        if let text = try fields.value("X-Tags", "Tags", "Tag", "ta") { tags = Self.list(text) }
        click = try fields.value("X-Click", "Click")
        icon = try fields.value("X-Icon", "Icon")
        category = try fields.value("X-Category", "Category")
        if let text = try fields.value("X-Actions", "Actions", "Action") { actions = try Action.list(text) }
        if let text = try fields.value("X-Delay", "Delay", "X-At", "At", "X-In", "In") {
            moment = try Delay.moment(text, now: now)
        }
    }

    /// What ntfy has and we don't.
    private static let missing: [(String, (String, String, String))] = [
        ("sending e-mail", ("X-Email", "Email", "e")), ("sending e-mail", ("X-E-Mail", "E-Mail", "mail")),
        ("calling a phone", ("X-Call", "Call", "call")), ("templating", ("X-Template", "Template", "tpl")),
        ("polling", ("X-Poll-ID", "Poll-ID", "poll-id")),
    ]

    private mutating func take(_ object: JSONObject, now: Int64) throws(DoorError) {
        func text(_ name: String) throws(DoorError) -> String? {
            guard let value = object[name], value != .null else { return nil }
            guard let text = value.string else { throw .notJSON }
            return text.isEmpty ? nil : text
        }
        for (name, what) in [("email", "sending e-mail"), ("call", "calling a phone")]
        where try text(name) != nil { throw .unsupported(what) }
        message = try text("message") ?? message
        title = try text("title") ?? title
        click = try text("click") ?? click
        icon = try text("icon") ?? icon
        category = try text("category") ?? category
        attachment = try text("attach") ?? attachment
        if attachment == nil, try text("filename") != nil { throw .attachmentFile }
        switch object["priority"] {
        case nil, .null, .integer(0): break
        case .integer(let number): priority = try Self.priority("\(number)")
        case .string(let text): priority = try Self.priority(text)
        default: throw .priority
        }
        if let value = object["tags"], value != .null {
            guard let list = value.array, list.count <= Self.listLimit else { throw .notJSON }
            tags = []
            for tag in list {
                guard let tag = tag.string else { throw .notJSON }
                tags.append(tag)
            }
        }
        switch object["actions"] {
        case nil, .null: break
        case .array(let list): actions = try Action.list(list)
        case .string(let text): actions = try Action.list(text)
        default: throw .actions
        }
        switch object["delay"] {
        case nil, .null: break
        case .integer(let number): moment = try Delay.moment("\(number)", now: now)
        case .string(let text): if !text.isEmpty { moment = try Delay.moment(text, now: now) }
        default: throw .delayUnreadable
        }
    }

    /// What both ways have in common.
    private mutating func check() throws(DoorError) {
        if message.isEmpty { message = "triggered" }
        guard message.utf8.count <= Self.messageLimit, (title ?? "").utf8.count <= Self.titleLimit else {
            throw .tooLarge
        }
        let fields = [click, icon, category, attachment].compactMap(\.self) + tags
        guard tags.count <= Self.listLimit, fields.allSatisfy({ $0.utf8.count <= Self.fieldLimit }) else {
            throw .tooLarge
        }
        if let attachment, !attachment.lowercased().hasPrefix("https://") { throw .attachmentURL }
        if let icon, !["http://", "https://"].contains(where: icon.lowercased().hasPrefix) { throw .iconURL }
    }

    private static func priority(_ text: String) throws(DoorError) -> Int {
        switch text.lowercased() {
        case "1", "min": 1
        case "2", "low": 2
        case "3", "default": 3
        case "4", "high": 4
        case "5", "max", "urgent": 5
        default: throw .priority
        }
    }

    private static func list(_ text: String) -> [String] {
        text.split(separator: ",").map { $0.trimmed }.filter { !$0.isEmpty }
    }

    /// A header has one line: `\n` stands for a line break. In bytes, because a combining mark may follow.
    private static func unescapedLines(_ text: String) -> String {
        text.utf8.split(separator: "\\n".utf8, omittingEmptySubsequences: false).map { String(Substring($0)) }
            .joined(separator: "\n")
    }
}

extension Publication.Action {
    /// `view, Open, https://example.org; …`, or a JSON list.
    static func list(_ text: String) throws(DoorError) -> [Self] {
        if text.hasPrefix("[") {
            guard let list = (try? JSONValue(parsing: text, depth: 8))?.array else { throw .actions }
            return try self.list(list)
        }
        var actions: [Self] = []
        for part in text.split(separator: ";") where !part.trimmed.isEmpty {
            let fields = part.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmed }
            guard fields.count >= 3, fields[0].value(of: "action") == "view" else { throw .actions }
            actions.append(try .init(checking: fields[1].value(of: "label"), url: fields[2].value(of: "url")))
        }
        return try checked(actions)
    }

    static func list(_ values: [JSONValue]) throws(DoorError) -> [Self] {
        var actions: [Self] = []
        for value in values {
            guard value["action"]?.string == "view", let label = value["label"]?.string, let url = value["url"]?.string
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

extension StringProtocol {
    /// Without blanks at both ends.
    var trimmed: String {
        var text = Substring(self)
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }

    /// What follows `name=`; without that, all of it.
    fileprivate func value(of name: String) -> String {
        hasPrefix("\(name)=") ? String(dropFirst(name.count + 1)) : String(self)
    }
}
