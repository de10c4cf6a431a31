import Glibc
import Relay

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
    var lan: String { url(isAnyAddress ? Self.firstLANAddress() ?? "127.0.0.1" : host) }

    private func url(_ host: String) -> String {
        "\(isSecure ? "wss" : "ws")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }

    /// The first IPv4 address of an interface that is up and no loopback.
    private static func firstLANAddress() -> String? {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return nil }
        defer { freeifaddrs(list) }
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
            return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        return nil
    }
}
