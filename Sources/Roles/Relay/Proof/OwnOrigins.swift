internal import Glibc
internal import Transport

/// The origins at which this relay is dialled: a proof for any other is refused (Wire, "Proof of an id").
///
/// Those of the options; else its addresses with its port. A relay inside a desktop has both, and the URL in the
/// desktop's codes. If it listens on all addresses, these are the machine's current ones, read again after a second.
/// Origins with the scheme that the relay does not speak itself are those of proxies (Wire, "Proof of an id").
struct OwnOrigins {
    private static let age: UInt64 = 1_000

    private let named: Set<[UInt8]>
    /// For connections from a trusted proxy only.
    private let proxied: Set<[UInt8]>
    private let namesAddresses: Bool
    private let host: String
    private let suffix: String
    private let scheme: String
    private var found: Set<[UInt8]> = []
    /// Without those of loopback.
    private var foundOutside: Set<[UInt8]> = []
    private var lookedUp: UInt64?

    /// - Parameter alsoDialledAs: what else it is called, its addresses not counted; `nil` = it goes by its options alone.
    init(_ options: RelayOptions, port: UInt16, alsoDialledAs: [String]? = nil) {
        let scheme = options.tls == nil ? "ws" : "wss"
        let own = options.origins.filter { $0.hasPrefix("\(scheme):") }
        named = Set((own + (alsoDialledAs ?? [])).map { Array($0.utf8) })
        proxied = Set(options.origins.map { Array($0.utf8) }).subtracting(named)
        namesAddresses = own.isEmpty || alsoDialledAs != nil
        host = options.host == "localhost" ? "127.0.0.1" : options.host
        self.scheme = scheme
        suffix = ":\(port)"
    }

    /// At that monotonic time, in milliseconds.
    ///
    /// - Parameters:
    ///   - isLocal: for a connection from this machine. Others cannot have dialled a loopback address of this machine: a
    ///     proof for one was made for a relay on the signer's machine.
    ///   - isProxied: for a connection from a trusted proxy.
    mutating func all(at monotonic: UInt64, isLocal: Bool, isProxied: Bool = false) -> Set<[UInt8]> {
        if namesAddresses { lookUp(at: monotonic) }
        let own = !namesAddresses ? named : isLocal ? found : foundOutside
        return isProxied && !proxied.isEmpty ? own.union(proxied) : own
    }

    private mutating func lookUp(at monotonic: UInt64) {
        if let lookedUp, monotonic &- lookedUp < Self.age { return }
        lookedUp = monotonic
        let addresses =
            switch host {
            case "0.0.0.0": Self.machineAddresses { $0 == AF_INET }
            case "::": Self.machineAddresses { $0 == AF_INET || $0 == AF_INET6 }
            default: [host]
            }
        found = named.union(addresses.flatMap(origins))
        foundOutside = named.union(addresses.filter { !Self.isLoopback($0) }.flatMap(origins))
    }

    private static func isLoopback(_ address: String) -> Bool { address == "::1" || address.hasPrefix("127.") }

    private func origins(of address: String) -> [[UInt8]] {
        let place = address.contains(":") ? "[\(address.lowercased())]" : address
        let names = Self.isLoopback(address) ? [place, "localhost"] : [place]
        return names.map { Array("\(scheme)://\($0)\(suffix)".utf8) }
    }

    /// Addresses of the kind that can stand in a URL: no link-local ones of IPv6, which need a zone.
    private static func machineAddresses(_ isWanted: (Int32) -> Bool) -> [String] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        var addresses: [String] = []
        var next = first
        while let entry = next {
            next = entry.pointee.ifa_next
            guard let address = entry.pointee.ifa_addr, isWanted(Int32(address.pointee.sa_family)) else { continue }
            if let text = text(of: address), !text.lowercased().hasPrefix("fe80:") { addresses.append(text) }
        }
        return addresses
    }

    private static func text(of address: UnsafeMutablePointer<sockaddr>) -> String? {
        let size =
            Int32(address.pointee.sa_family) == AF_INET
            ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard
            getnameinfo(address, socklen_t(size), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
        else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
