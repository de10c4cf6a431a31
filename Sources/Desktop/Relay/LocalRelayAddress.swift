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

    /// Nobody else can reach it.
    var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }

    private var isAnyAddress: Bool { host == "0.0.0.0" || host == "::" }

    /// For the desktop itself. A certificate names no loopback address, so with TLS it takes the public url.
    func own(signalingURL: String?) -> String {
        if isSecure, let signalingURL { return signalingURL }
        return url(isAnyAddress ? (host == "::" ? "::1" : "127.0.0.1") : host)
    }

    /// For devices. A relay on all addresses is named by the first one that others can reach.
    var lan: String { url(isAnyAddress ? Self.lanAddresses().first ?? "127.0.0.1" : host) }

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
