import JSON
package import Transport

extension Publication {
    /// Reads a request: the topic is in its path, or in the JSON object that it posts to `/`.
    ///
    /// - Parameters:
    ///   - omitted: bytes that the body has lost behind its first ``BodyText/limit``.
    ///   - now: milliseconds since 1970.
    package init(_ head: HTTPRequestHead, body: [UInt8], omitted: Int = 0, now: Int64) throws(DoorError) {
        let fields = HeaderFields(head)
        let type = fields.contentType
        if let encoding = fields.contentEncoding { throw .contentEncoding(encoding) }
        if type.type.hasPrefix("multipart/") { throw .multipart }
        if type.isFile, String(validating: body, as: UTF8.self) == nil { throw .attachmentFile }
        let text =
            omitted > 0 ? BodyText(ends: body, omitted: omitted).text { type.text(of: $0) }.text : type.text(of: body)
        guard head.path == "/" else {
            try self.init(fields: fields, topic: Self.topic(of: head), text: text, now: now)
            try check()
            return
        }
        let object = try Self.object(text)
        guard let topic = try Self.text("topic", of: object) else { throw .notJSON }
        // What the object doesn't say may stand in the headers.
        try self.init(fields: fields, topic: topic, text: "", now: now)
        try take(object, now: now)
        try check()
    }

    /// The topic in a request's path: `/topic`, or of a webhook that can only GET, `/topic/publish`.
    static func topic(of head: HTTPRequestHead) -> String {
        let path = head.path.dropFirst()
        guard head.method == "GET",
            let end = ["/publish", "/send", "/trigger"].first(where: { path.hasSuffix($0) })
        else { return String(path) }
        return String(path.dropLast(end.count))
    }

    private init(fields: HeaderFields, topic: String, text: String, now: Int64) throws(DoorError) {
        try self.init(topic: topic)
        for (what, names) in Self.missing where fields.value(names.0, names.1, names.2) != nil {
            throw .unsupported(what)
        }
        if let template = fields.value("X-Template", "Template", "tpl"), !Self.isNo(template) {
            throw .unsupported("templating")
        }
        if fields.flag("X-Markdown", "Markdown", "md") || fields.contentType.type == "text/markdown" {
            throw .markdown
        }
        attachment = fields.value("X-Attach", "Attach", "a")
        // It makes a file of the body, if there is one.
        if attachment == nil, !text.isEmpty, fields.value("X-Filename", "Filename", "file", "f") != nil {
            throw .attachmentFile
        }
        let given = fields.value("X-Message", "Message", "m").map(Self.unescapedLines)
        // ntfy would show the body alone. Nothing is lost here.
        message = [given, text.trimmed.isEmpty && given != nil ? nil : text].compactMap(\.self).joined(separator: "\n")
        title = fields.value("X-Title", "Title", "ti", "t")
        if let text = fields.value("X-Priority", "Priority", "prio", "p") { priority = try Self.priority(text) }
        if let text = fields.value("X-Tags", "Tags", "Tag", "ta") { tags = Self.list(text) }
        click = fields.value("X-Click", "Click")
        icon = fields.value("X-Icon", "Icon")
        category = fields.value("X-Category", "Category")
        if let text = fields.value("X-Actions", "Actions", "Action") { actions = try Action.list(text) }
        if let text = fields.value("X-Delay", "Delay", "X-At", "At", "X-In", "In") {
            moment = try Delay.moment(text, now: now)
        }
    }

    /// What ntfy has and we don't.
    private static let missing: [(String, (String, String, String))] = [
        ("sending e-mail", ("X-Email", "Email", "e")), ("sending e-mail", ("X-E-Mail", "E-Mail", "mail")),
        ("calling a phone", ("X-Call", "Call", "call")), ("polling", ("X-Poll-ID", "Poll-ID", "poll-id")),
    ]

    // MARK: JSON

    /// The object of a body.
    private static func object(_ text: String) throws(DoorError) -> JSONObject {
        do throws(JSONError) {
            guard let object = try LoneSurrogates.value(of: text).object else {
                throw JSONError(.syntax, "it is of another type")
            }
            return object
        } catch {
            throw .malformedJSON(error.message)
        }
    }

    private static func text(_ name: String, of object: JSONObject) throws(DoorError) -> String? {
        guard let value = object[name], value != .null else { return nil }
        guard let text = value.string else { throw .member(name, "a string") }
        return text.isEmpty ? nil : text
    }

    private mutating func take(_ object: JSONObject, now: Int64) throws(DoorError) {
        func text(_ name: String) throws(DoorError) -> String? { try Self.text(name, of: object) }
        for (name, what) in [("email", "sending e-mail"), ("call", "calling a phone")]
        where try text(name) != nil { throw .unsupported(what) }
        if Self.isYes(object["markdown"]) { throw .markdown }
        // It may name one.
        if let template = object["template"], Self.isYes(template) || template.string.map({ !Self.isNo($0) }) == true {
            throw .unsupported("templating")
        }
        message = try text("message") ?? message
        title = try text("title") ?? title
        click = try text("click") ?? click
        icon = try text("icon") ?? icon
        category = try text("category") ?? category
        attachment = try text("attach") ?? attachment
        switch object["priority"].map(Self.whole) {
        case nil, .null, .integer(0): break
        case .integer(let number): priority = try Self.priority("\(number)")
        case .string(let text): priority = try Self.priority(text)
        default: throw .priority
        }
        if let value = object["tags"], value != .null {
            guard let list = value.array else { throw .member("tags", "a list of strings") }
            tags = []
            for tag in list {
                guard let tag = tag.string else { throw .member("tags", "a list of strings") }
                tags.append(tag)
            }
        }
        switch object["actions"] {
        case nil, .null: break
        case .array(let list): actions = try Action.list(list)
        case .string(let text): actions = try Action.list(text)
        default: throw .actions
        }
        switch object["delay"].map(Self.whole) {
        case nil, .null: break
        case .integer(let number): moment = try Delay.moment("\(number)", now: now)
        case .string(let text): if !text.isEmpty { moment = try Delay.moment(text, now: now) }
        default: throw .delayUnreadable
        }
    }

    /// As clients write a switch.
    private static func isYes(_ value: JSONValue?) -> Bool {
        value?.bool ?? value?.string.map(HeaderFields.isYes) ?? (value?.integer == 1)
    }

    private static func isNo(_ text: String) -> Bool { ["", "0", "false", "no"].contains(text.lowercased()) }

    /// Some languages write each number as a decimal fraction.
    private static func whole(_ value: JSONValue) -> JSONValue {
        guard case .double(let number) = value, let integer = Int64(exactly: number) else { return value }
        return .integer(integer)
    }

    /// What both ways have in common.
    private mutating func check() throws(DoorError) {
        message = message.isEmpty ? "triggered" : BodyText.cut(message).text
        let fields = [("click", click), ("icon", icon), ("category", category), ("attach", attachment)]
        for (name, value) in fields + tags.map({ ("tags", $0) }) {
            guard (value ?? "").utf8.count <= Self.fieldLimit else { throw .tooLong(name, Self.fieldLimit) }
        }
        guard (title ?? "").utf8.count <= Self.titleLimit else { throw .tooLong("title", Self.titleLimit) }
        guard tags.count <= Self.listLimit else { throw .tooManyTags }
        if let attachment, !attachment.lowercased().hasPrefix("https://") { throw .attachmentURL }
        if let icon, !["http://", "https://"].contains(where: icon.lowercased().hasPrefix) { throw .iconURL }
    }

    static let priorities = [
        "1": 1, "min": 1, "2": 2, "low": 2, "3": 3, "default": 3, "4": 4, "high": 4, "5": 5, "max": 5, "urgent": 5,
    ]

    private static func priority(_ text: String) throws(DoorError) -> Int {
        guard let priority = priorities[text.lowercased()] else { throw .priority }
        return priority
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

extension StringProtocol {
    /// Without blanks at both ends.
    var trimmed: String {
        var text = Substring(self)
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}
