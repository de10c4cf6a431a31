/// Where a NATS server is: `nats://[USER:PASSWORD@|TOKEN@]HOST[:PORT]`, or `tls://…` to insist on TLS.
package struct NATSServer: Sendable, Hashable {
    package enum Login: Sendable, Hashable {
        case none
        case password(user: String, String)
        case token(String)
    }

    package static let standardPort: UInt16 = 4_222

    package let host: String
    package let port: UInt16
    package let requiresTLS: Bool
    package let login: Login

    /// - Throws: ``NATSError/Code/invalidOption``.
    package init(_ url: String) throws(NATSError) {
        var rest = url[...]
        var requiresTLS = false
        if let scheme = rest.range(ofASCII: "://") {
            switch rest[..<scheme.lowerBound].lowercased() {
            case "nats": break
            case "tls": requiresTLS = true
            default: throw Self.invalid("begins with neither nats:// nor tls://")
            }
            rest = rest[scheme.upperBound...]
        }
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard url.utf8.count <= 2_048, rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            !rest.contains(where: { $0 == "/" || $0 == "?" || $0 == "#" })
        else { throw Self.invalid("has characters that it cannot have") }
        var login = Login.none
        if let at = rest.lastIndex(of: "@") {
            login = try Self.login(rest[..<at])
            rest = rest[rest.index(after: at)...]
        }
        self.requiresTLS = requiresTLS
        self.login = login
        (host, port) = try Self.address(rest)
    }

    private static func login(_ text: Substring) throws(NATSError) -> Login {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(decoded)
        guard let first = parts[0], !first.isEmpty else { throw invalid("has an empty user name or token") }
        guard parts.count == 2 else { return .token(first) }
        guard let password = parts[1] else { throw invalid("has a password with a wrong %") }
        return .password(user: first, password)
    }

    private static func address(_ text: Substring) throws(NATSError) -> (String, UInt16) {
        var host = text
        var port = standardPort
        let afterBrackets = text.lastIndex(of: "]") ?? text.startIndex
        if let colon = text[afterBrackets...].lastIndex(of: ":"), text.hasPrefix("[") || !text[..<colon].contains(":") {
            guard let number = UInt16(text[text.index(after: colon)...]), number > 0 else {
                throw invalid("has a port that is not a number from 1 to 65535")
            }
            port = number
            host = text[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard (1...253).contains(host.utf8.count), !host.contains("[") else { throw invalid("has no host") }
        return (String(host), port)
    }

    /// Percent-decoded; `nil` where a % is not followed by two hexadecimal digits.
    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func invalid(_ what: String) -> NATSError {
        NATSError(.invalidOption, "the NATS URL \(what); use nats://host:4222")
    }

    /// For logs: without the login.
    package var name: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// A server that another one names, with this one's login.
    func sibling(_ address: String) -> NATSServer? {
        guard let found = try? NATSServer(address), found.login == .none else { return nil }
        return NATSServer(host: found.host, port: found.port, requiresTLS: requiresTLS, login: login)
    }

    private init(host: String, port: UInt16, requiresTLS: Bool, login: Login) {
        (self.host, self.port, self.requiresTLS, self.login) = (host, port, requiresTLS, login)
    }

    func isAt(_ other: NATSServer) -> Bool { host == other.host && port == other.port }
}

extension Substring {
    fileprivate func range(ofASCII text: String) -> Range<Index>? {
        let sought = Array(text.utf8)
        let bytes = utf8
        var start = bytes.startIndex
        while start < bytes.endIndex {
            if bytes[start...].starts(with: sought) {
                return start..<(bytes.index(start, offsetBy: sought.count))
            }
            start = bytes.index(after: start)
        }
        return nil
    }
}
