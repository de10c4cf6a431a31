import CHTTPParser

/// The address of a relay: `ws://host[:port][/path]` or `wss://…`.
package struct WebSocketURL: Sendable, Hashable, CustomStringConvertible {
    /// Longer texts are refused; the parser counts in 16 bits.
    package static let maximumLength = 2_048

    package let isSecure: Bool
    /// A name or a numeric address; IPv6 without its brackets. Lower case.
    package let host: String
    package let port: UInt16
    /// Path and query, never empty.
    package let path: String

    package init(_ text: String) throws(TransportError) {
        guard text.utf8.count <= Self.maximumLength else {
            throw TransportError(.invalidURL, "the URL is longer than \(Self.maximumLength) bytes")
        }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            throw TransportError(.invalidURL, "the URL contains a space or a non-ASCII character")
        }
        let bytes = Array(text.utf8)
        var fields = http_parser_url()
        http_parser_url_init(&fields)
        let result = bytes.withUnsafeBytes {
            http_parser_parse_url($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count, 0, &fields)
        }
        guard result == 0 else { throw TransportError(.invalidURL, "not a valid URL; use ws://host:port") }

        func field(_ index: http_parser_url_fields) -> String? {
            guard fields.field_set & (1 << UInt16(index.rawValue)) != 0 else { return nil }
            let start = Int(bw_url_field_offset(&fields, index))
            let end = start + Int(bw_url_field_length(&fields, index))
            guard end <= bytes.count else { return nil }
            return String(decoding: bytes[start..<end], as: UTF8.self)
        }

        switch field(UF_SCHEMA)?.lowercased() {
        case "ws": isSecure = false
        case "wss": isSecure = true
        default: throw TransportError(.invalidURL, "the URL must begin with ws:// or wss://")
        }
        guard let host = field(UF_HOST), !host.isEmpty, host.utf8.count <= 253 else {
            throw TransportError(.invalidURL, "the URL has no host")
        }
        guard field(UF_USERINFO) == nil else {
            throw TransportError(.invalidURL, "the URL contains a user name; remove it")
        }
        guard field(UF_FRAGMENT) == nil else {
            throw TransportError(.invalidURL, "the URL contains a fragment (#…); remove it")
        }
        self.host = host.lowercased()
        if field(UF_PORT) != nil {
            guard fields.port != 0 else { throw TransportError(.invalidURL, "the URL contains port 0") }
            port = fields.port
        } else {
            port = isSecure ? 443 : 80
        }
        var path = field(UF_PATH) ?? "/"
        if let query = field(UF_QUERY) { path += "?\(query)" }
        self.path = path
    }

    /// A URL as a log may have it: its query can contain a token.
    package static func loggable(_ text: String) -> String { String(text.prefix { $0 != "?" }) }

    package var scheme: String { isSecure ? "wss" : "ws" }

    /// What was dialled, always with its port: `ws://192.168.1.5:9001` (Wire, "Proof of an id").
    package var origin: String { "\(scheme)://\(authority)" }

    /// Host and port, IPv6 in brackets.
    var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    package var description: String { origin + path }
}

extension WebSocketURL {
    /// The `Host` header: the port only where it is not the scheme's own.
    var hostHeader: String {
        guard port == (isSecure ? 443 : 80) else { return authority }
        return host.contains(":") ? "[\(host)]" : host
    }
}
