/// Decides which web pages may open a WebSocket to a listener.
///
/// A web page can make any browser connect to us; the browser names the page's site in `Origin`. Programs send none, or
/// (some client libraries) the address that they connect to.
struct OriginRule {
    /// Besides pages of the listener's own host and port.
    let allowed: [String]
    /// Whether the listener speaks TLS, which decides the port that a Host header leaves out.
    let isSecure: Bool

    func permits(origin: String?, host: String?, isLoopback: Bool) -> Bool {
        guard let origin else { return true }
        if allowed.contains(where: { $0 == "*" || $0.equalsIgnoringCase(origin) }) { return true }
        guard let host, let asked = Self.split(host, defaultPort: isSecure ? 443 : 80),
            let separator = origin.range(ofScheme: "://")
        else { return false }
        let isSecureOrigin = ["https", "wss"].contains(origin[..<separator.lowerBound].lowercased())
        let page = String(origin[separator.upperBound...])
        guard let from = Self.split(page, defaultPort: isSecureOrigin ? 443 : 80), from == asked else { return false }
        // A page whose own name was pointed at this machine is of the same host by name only (DNS rebinding).
        guard isLoopback else { return true }
        return from.name == "localhost" || SocketAddress(numeric: from.name, port: 0) != nil
    }

    private struct Authority: Equatable {
        let name: String
        let port: UInt16
    }

    /// `name`, `name:port`, `[address]:port`.
    private static func split(_ text: String, defaultPort: UInt16) -> Authority? {
        let text = text.lowercased()
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            let name = String(text[text.index(after: text.startIndex)..<end])
            return port(text[text.index(after: end)...], defaultPort).map { Authority(name: name, port: $0) }
        }
        let colon = text.firstIndex(of: ":") ?? text.endIndex
        guard colon != text.startIndex, !text.contains("/") else { return nil }
        return port(text[colon...], defaultPort).map { Authority(name: String(text[..<colon]), port: $0) }
    }

    private static func port(_ rest: Substring, _ defaultPort: UInt16) -> UInt16? {
        rest.isEmpty ? defaultPort : rest.hasPrefix(":") ? UInt16(rest.dropFirst()) : nil
    }
}

extension String {
    fileprivate func range(ofScheme separator: String) -> Range<Index>? {
        guard let colon = firstIndex(of: ":"), self[colon...].hasPrefix(separator) else { return nil }
        return colon..<index(colon, offsetBy: separator.count)
    }
}
