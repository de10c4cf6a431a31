import Glibc
import Transport

/// Keeps out web pages: a browser would let any page post to a server on its machine, but it says so.
struct PageRule {
    /// In lower case.
    let names: Set<String>

    init(names: [String]) { self.names = Set(names.map { $0.lowercased() } + ["localhost"]) }

    /// Browsers send `Origin` with every POST, and newer ones `Sec-Fetch-Site`; programs send neither. A page whose name
    /// was pointed at this machine (DNS rebinding) gives that name as the host.
    func check(_ head: HTTPRequestHead) throws(DoorError) {
        guard head["Origin"] == nil, head["Sec-Fetch-Site"].map({ $0 == "none" }) ?? true else { throw .foreignPage }
        let hosts = head.headers.filter { $0.name.lowercased() == "host" }
        guard hosts.count == 1, let name = Self.name(of: hosts[0].value) else { throw .notHTTP }
        guard names.contains(name) || Self.isNumeric(name) else { throw .foreignHost }
    }

    /// Without the port and without brackets.
    private static func name(of host: String) -> String? {
        let text = host.lowercased()
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            return String(text[text.index(after: text.startIndex)..<end])
        }
        let name = text.prefix { $0 != ":" }
        return name.isEmpty ? nil : String(name)
    }

    /// An address needs no name service: nobody can point it elsewhere.
    private static func isNumeric(_ name: String) -> Bool {
        var bytes = in6_addr()
        return inet_pton(name.contains(":") ? AF_INET6 : AF_INET, name, &bytes) == 1
    }
}
