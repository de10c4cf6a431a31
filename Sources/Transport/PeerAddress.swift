/// The other end of a connection.
package struct PeerAddress: Sendable, Hashable, CustomStringConvertible {
    /// The numeric address: `192.168.1.7`, `fe80::1`. An IPv4 address mapped into IPv6 is given as IPv4.
    package let host: String
    package let port: UInt16
    package let isLoopback: Bool

    package init(host: String, port: UInt16, isLoopback: Bool) {
        self.host = host
        self.port = port
        self.isLoopback = isLoopback
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
