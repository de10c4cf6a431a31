import Transport

/// The values that a request gives beside its body: in headers, or else in its query.
struct HeaderFields {
    private let head: HTTPRequestHead
    private let query: Query

    init(_ head: HTTPRequestHead) {
        self.head = head
        query = Query(head)
    }

    /// The first of these names that has a value, without blanks around it. Empty counts as absent.
    func value(_ names: String...) -> String? {
        for name in names {
            let name = name.lowercased()
            for header in head.headers where header.name.lowercased() == name {
                let text = EncodedWord.decode(Charset.western(header.value))
                // HTTP has a header of its own with this name.
                let own = name == "priority" ? HTTPPriority.removed(from: text) : text
                if let own, !own.isEmpty { return own }
            }
        }
        for name in names {
            if let value = query[name] { return value }
        }
        return nil
    }

    func flag(_ names: String...) -> Bool {
        for name in names {
            if let text = value(name) { return Self.isYes(text) }
        }
        return false
    }

    static func isYes(_ text: String) -> Bool { ["1", "true", "yes"].contains(text.lowercased()) }

    var contentType: ContentType { ContentType(head["Content-Type"] ?? "") }

    /// Encodings of the body that must be undone before it can be read. Some clients name its character set, or an encoding
    /// of e-mail that changes nothing.
    var contentEncoding: String? {
        head["Content-Encoding"].map { $0.lowercased() }.flatMap { name in
            ["", "identity", "none", "7bit", "8bit", "binary"].contains(name) || Charset.isKnown(name) ? nil : name
        }
    }
}

/// How a body is to be read: `text/plain; charset=utf-8`.
struct ContentType {
    /// In lower case.
    let type: String
    let charset: String?

    init(_ header: String) {
        let parts = header.lowercased().split(separator: ";", omittingEmptySubsequences: false).map { $0.trimmed }
        type = parts.first ?? ""
        charset = parts.dropFirst().first { $0.hasPrefix("charset=") }
            .map { $0.dropFirst(8).filter { $0 != "\"" && $0 != "'" }.trimmed }
    }

    /// The text of a body that declares no character set, or a wrong one.
    func text(of body: [UInt8]) -> String {
        guard let charset, !["utf-8", "utf8"].contains(charset), let text = Charset.decode(body, as: charset) else {
            return Charset.guess(body)
        }
        return text
    }

    /// What no notification can show.
    var isFile: Bool {
        ["image/", "audio/", "video/", "font/", "application/pdf", "application/zip", "application/gzip"]
            .contains { type.hasPrefix($0) }
    }
}

/// The `Priority` header of RFC 9218, such as `u=3, i`, which HTTP clients and proxies send. It is about the request, not
/// about a notification.
enum HTTPPriority {
    /// What is left of a header's value; `nil` = nothing.
    static func removed(from text: String) -> String? {
        let parts = text.split(separator: ",").map { $0.trimmed }
        let others = parts.filter { part in
            let key = part.prefix { $0 != "=" && $0 != ";" }.trimmed.lowercased()
            let value = part.dropFirst(key.count).prefix { $0 != ";" }.trimmed
            // No priority of ours is a boolean of structured fields.
            return key != "u" && key != "i" && value != "=?0" && value != "=?1"
        }
        // Among them only a proxy could have joined one of ours with it; the rest is for extensions of the RFC.
        return others.count == parts.count ? text : others.first { Publication.priorities[$0.lowercased()] != nil }
    }
}
