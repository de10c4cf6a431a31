import Glibc
import Relay
import Transport

/// Under which url the relay that a desktop carries is reached: by itself, and by devices on the LAN.
struct LocalRelayAddress {
    private let host: String
    private let port: UInt16
    private let isSecure: Bool

    init(_ options: RelayOptions, port: UInt16) {
        host = options.host
        self.port = port
        isSecure = options.tls != nil
    }

    private var isAnyAddress: Bool { host == "0.0.0.0" || host == "::" }

    /// For the desktop itself. A certificate names no loopback address, so with TLS it takes the public url.
    func own(signalingURL: String?) -> String {
        if isSecure, let signalingURL { return signalingURL }
        return url(isAnyAddress ? (host == "::" ? "::1" : "127.0.0.1") : host)
    }

    /// For devices. A relay on all addresses is named by the first one that others can reach.
    var lan: String { url(isAnyAddress ? Self.lanAddresses().first ?? "127.0.0.1" : host) }

    /// Every url that the desktop or its codes name it by, or could after the next look at the network.
    func all(signalingURL: String?) -> [String] {
        var urls = [own(signalingURL: signalingURL)]
        urls += isAnyAddress ? (Self.lanAddresses() + ["127.0.0.1", "localhost"]).map(url) : [url(host)]
        if let signalingURL { urls.append(signalingURL) }
        return urls
    }

    private func url(_ host: String) -> String {
        "\(isSecure ? "wss" : "ws")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }

    /// The IPv4 addresses of interfaces that are up and no loopback.
    private static func lanAddresses() -> [String] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var addresses: [String] = []
        var next = list
        while let entry = next?.pointee {
            defer { next = entry.ifa_next }
            guard let address = entry.ifa_addr, Int32(address.pointee.sa_family) == AF_INET,
                entry.ifa_flags & UInt32(IFF_UP) != 0, entry.ifa_flags & UInt32(IFF_LOOPBACK) == 0
            else { continue }
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let length = socklen_t(MemoryLayout<sockaddr_in>.size)
            guard getnameinfo(address, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else {
                continue
            }
            addresses.append(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        }
        return addresses
    }
}

extension RelayOptions {
    /// What the desktop itself dials and what its codes name are origins of its relay, whatever else is (protocol.md 4.1).
    ///
    /// Where nobody names any, the relay takes its addresses, which is more. With any port that is free they cannot be
    /// known yet.
    mutating func nameOrigins(signalingURL: String?) {
        guard !origins.isEmpty || signalingURL != nil, port != 0 else { return }
        for url in LocalRelayAddress(self, port: port).all(signalingURL: signalingURL) {
            guard let origin = try? WebSocketURL(url).origin, !origins.contains(origin) else { continue }
            origins.append(origin)
        }
    }
}
