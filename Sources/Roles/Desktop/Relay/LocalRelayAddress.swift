import Relay
import SystemServices
import Transport

/// The URLs of a desktop's own relay: one for the desktop itself, one for devices on the local network.
struct LocalRelayAddress {
    private let host: String
    private let port: UInt16
    private let isSecure: Bool

    init(_ options: RelayOptions, port: UInt16) {
        host = options.host
        self.port = port
        isSecure = options.tls != nil
    }

    /// Whether only this machine can reach it.
    var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }

    private var isAnyAddress: Bool { host == "0.0.0.0" || host == "::" }

    /// For the desktop itself. Certificates don't name loopback addresses, so with TLS it uses the public URL.
    func own(signalingURL: String?) -> String {
        if isSecure, let signalingURL { return signalingURL }
        return url(isAnyAddress ? (host == "::" ? "::1" : "127.0.0.1") : host)
    }

    /// For devices. If the relay listens on all addresses, this is the first one that others can reach.
    var lan: String { url(isAnyAddress ? InterfaceAddresses.reachableIPv4().first ?? "127.0.0.1" : host) }

    private func url(_ host: String) -> String {
        "\(isSecure ? "wss" : "ws")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}
