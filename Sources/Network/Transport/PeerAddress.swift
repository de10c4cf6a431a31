internal import Glibc

/// The other end of a connection.
package struct PeerAddress: Sendable, Hashable, CustomStringConvertible {
    /// The numeric address: `192.168.1.7`, `fe80::1`. An IPv4 address mapped into IPv6 is given as IPv4.
    package let host: String
    package let port: UInt16
    package let isLoopback: Bool
    /// How a trusted proxy named this client.
    package var manner = ProxyManner.direct

    package init(host: String, port: UInt16, isLoopback: Bool) {
        self.host = host
        self.port = port
        self.isLoopback = isLoopback
    }

    /// What limits for one network count by: an IPv4 address itself; of IPv6 the /64, which is what one household or one
    /// server is given.
    package var network: String { Self.network(of: host) }

    /// The same for the text of a numeric address.
    package static func network(of host: String) -> String {
        guard host.utf8.contains(UInt8(ascii: ":")) else { return host }
        var bytes = in6_addr()
        guard inet_pton(AF_INET6, host, &bytes) == 1 else { return host }
        return withUnsafeBytes(of: &bytes) { bytes in
            bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ".") + "/64"
        }
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
