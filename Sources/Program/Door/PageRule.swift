import Glibc
import Transport

/// Keeps out web pages: a browser would let any page post to a server on its machine, but it says so.
struct PageRule {
    /// In lower case.
    let names: Set<String>

    init(names: [String]) {
        // As /etc/hosts has them.
        let own = ["localhost", "localhost.localdomain", "localhost4", "localhost6", "ip6-localhost"]
        self.names = Set(names.compactMap { Self.name(of: $0) } + own)
    }

    /// Browsers send `Origin` with every POST, and newer ones `Sec-Fetch-Site`; programs send neither. A page whose name
    /// was pointed at this machine (DNS rebinding) gives that name as the host.
    func check(_ head: HTTPRequestHead) throws(DoorError) {
        guard head["Origin"] == nil, head["Sec-Fetch-Site"].map({ $0 == "none" }) ?? true else { throw .foreignPage }
        let hosts = head.headers.filter { $0.name.lowercased() == "host" }
        // Only HTTP/1.0 may leave it out, which browsers don't speak.
        if hosts.isEmpty, !head.isHTTP11 { return }
        guard hosts.count == 1, let name = Self.name(of: hosts[0].value) else { throw .notHTTP }
        guard names.contains(name) || Self.isNumeric(name) || Self.isOwn(name) else { throw .foreignHost }
    }

    /// Without the port, brackets, the zone of an IPv6 address, and the dot of a name that is written in full.
    private static func name(of host: String) -> String? {
        let text = host.lowercased()
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            return String(text[text.index(after: text.startIndex)..<end].prefix { $0 != "%" })
        }
        var name = text.prefix { $0 != ":" }
        if name.hasSuffix(".") { name.removeLast() }
        return name.isEmpty ? nil : String(name)
    }

    /// This machine's own name, alone, with its domain, and as mDNS has it; and names that always mean this machine (RFC
    /// 6761). Nobody else's page has one of them.
    private static func isOwn(_ name: String) -> Bool {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return name.hasSuffix(".localhost") }
        let own = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).lowercased()
        let first = own.prefix { $0 != "." }
        return name.hasSuffix(".localhost")
            || !first.isEmpty && (name == own || name == first || name == "\(first).local")
    }

    /// An address needs no name service: nobody can point it elsewhere.
    private static func isNumeric(_ name: String) -> Bool {
        var bytes = in6_addr()
        return inet_pton(name.contains(":") ? AF_INET6 : AF_INET, name, &bytes) == 1
    }
}
