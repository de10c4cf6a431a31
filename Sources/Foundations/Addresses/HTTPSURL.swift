/// The address of something on the web, written so that there is only one way to read it.
///
/// Stricter than RFC 3986 where readers are known to differ: no user name, no backslash, no escapes or foreign letters
/// in the host, and a host that ends in a number is an IPv4 address in its usual form (`127.1`, `0x7f000001` and
/// `0177.0.0.1` are refused). ``text`` is composed from the checked parts.
package struct HTTPSURL: Sendable, Hashable, CustomStringConvertible {
    package enum Problem: Error, Sendable, Hashable {
        /// The scheme is missing or not https.
        case notHTTPS
        case malformed
    }

    /// Bytes; longer ones are malformed.
    package static let maximumLength = 4_096

    /// A name in lower case, without the dot at its end, or a numeric address without brackets.
    package let host: String
    /// The host, if it is a numeric address.
    package let address: IPAddress?
    package let port: UInt16
    /// Path and query, never empty. A fragment is left out: it never leaves the reader.
    package let path: String

    package init(_ text: String) throws(Problem) {
        var rest = Array(text.utf8)[...]
        guard rest.count <= Self.maximumLength, rest.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { throw .malformed }
        let scheme = rest.prefix { $0 != UInt8(ascii: ":") }
        rest = rest.dropFirst(scheme.count)
        guard rest.starts(with: "://".utf8) else { throw .notHTTPS }
        guard String(decoding: scheme, as: UTF8.self).lowercased() == "https" else { throw .notHTTPS }
        rest = rest.dropFirst(3)
        let authority = rest.prefix { !"/?#".utf8.contains($0) }
        rest = rest.dropFirst(authority.count)
        (host, address, port) = try Self.parts(of: authority)
        path = try Self.path(rest)
    }

    package var text: String {
        let host = address?.isIPv6 == true ? "[\(host)]" : host
        return port == 443 ? "https://\(host)\(path)" : "https://\(host):\(port)\(path)"
    }

    package var description: String { text }

    // MARK: The parts

    private static func parts(of authority: ArraySlice<UInt8>) throws(Problem) -> (String, IPAddress?, UInt16) {
        if authority.first == UInt8(ascii: "[") {
            guard let end = authority.firstIndex(of: UInt8(ascii: "]")) else { throw .malformed }
            let inside = String(decoding: authority[authority.startIndex + 1..<end], as: UTF8.self)
            guard let address = IPAddress(inside), address.isIPv6 else { throw .malformed }
            return (address.description, address, try port(authority[(end + 1)...]))
        }
        let name = authority.prefix { $0 != UInt8(ascii: ":") }
        let port = try port(authority.dropFirst(name.count))
        let host = String(decoding: name, as: UTF8.self).lowercased()
        if let address = IPAddress(host) { return (host, address, port) }
        return (try self.name(host), nil, port)
    }

    /// Nothing, or a colon with the number.
    private static func port(_ text: ArraySlice<UInt8>) throws(Problem) -> UInt16 {
        guard let colon = text.first else { return 443 }
        let digits = text.dropFirst()
        guard colon == UInt8(ascii: ":"), digits.allSatisfy(isDigit), digits.count <= 5,
            let port = UInt16(String(decoding: digits, as: UTF8.self)), port > 0
        else { throw .malformed }
        return port
    }

    private static func name(_ text: String) throws(Problem) -> String {
        let name = text.hasSuffix(".") ? String(text.dropLast()) : text
        guard (1...253).contains(name.utf8.count) else { throw .malformed }
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        for label in labels {
            guard (1...63).contains(label.count), label.allSatisfy(isNameByte) else { throw .malformed }
            guard label.first != UInt8(ascii: "-"), label.last != UInt8(ascii: "-") else { throw .malformed }
        }
        // Some parsers read such a name as an IPv4 address, each differently.
        guard let last = labels.last, !isNumber(last) else { throw .malformed }
        return name
    }

    private static func path(_ text: ArraySlice<UInt8>) throws(Problem) -> String {
        let path = text.prefix { $0 != UInt8(ascii: "#") }
        guard text.allSatisfy(isPathByte) else { throw .malformed }
        var escapes = path[...]
        while let escape = escapes.firstIndex(of: UInt8(ascii: "%")) {
            let digits = escapes[(escape + 1)...].prefix(2)
            guard digits.count == 2, digits.allSatisfy(isHexDigit) else { throw .malformed }
            escapes = escapes[(escape + 3)...]
        }
        let text = String(decoding: path, as: UTF8.self)
        return text.hasPrefix("/") ? text : "/\(text)"
    }

    private static func isNumber(_ label: Substring.UTF8View.SubSequence) -> Bool {
        label.allSatisfy(isDigit) || (label.starts(with: "0x".utf8) && label.dropFirst(2).allSatisfy(isHexDigit))
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x61...0x66).contains(byte | 0x20)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x61...0x7a).contains(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    /// Characters that a URL may contain (RFC 3986), plus brackets, which many queries contain.
    private static func isPathByte(_ byte: UInt8) -> Bool {
        !"\"<>\\^`{|}".utf8.contains(byte)
    }
}
