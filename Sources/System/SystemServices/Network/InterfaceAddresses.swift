import Glibc

/// The addresses of this machine's network interfaces.
package enum InterfaceAddresses {
    /// One address of an interface that is up.
    struct Entry: Equatable {
        let interface: String
        let address: String
        /// Its cable is plugged in, or it is associated with a network.
        var hasLink = true
        /// A tunnel: other machines of the local network don't reach it.
        var isPointToPoint = false
        /// Hardware of this machine, not a bridge for containers or virtual machines.
        var isDevice = true
    }

    /// IPv4 addresses of interfaces that are up, without loopback ones. First those by which other machines most likely
    /// reach this one: of the interface of the default route. Empty if they can't be read.
    package static func reachableIPv4() -> [String] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var entries: [Entry] = []
        var next = list
        while let entry = next?.pointee {
            defer { next = entry.ifa_next }
            let flags = entry.ifa_flags
            guard let address = entry.ifa_addr, Int32(address.pointee.sa_family) == AF_INET,
                flags & UInt32(IFF_UP) != 0, flags & UInt32(IFF_LOOPBACK) == 0
            else { continue }
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let length = socklen_t(MemoryLayout<sockaddr_in>.size)
            guard getnameinfo(address, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else {
                continue
            }
            let name = String(cString: entry.ifa_name)
            entries.append(
                Entry(
                    interface: name,
                    address: String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self),
                    hasLink: flags & UInt32(IFF_RUNNING) != 0, isPointToPoint: flags & UInt32(IFF_POINTOPOINT) != 0,
                    isDevice: access("/sys/class/net/\(name)/device", F_OK) == 0))
        }
        return ordered(entries, routes: routes())
    }

    /// - Parameter routes: the kernel's table, as `/proc/net/route` has it.
    static func ordered(_ entries: [Entry], routes: String) -> [String] {
        var metrics: [String: Int] = [:]
        for line in routes.split(separator: "\n") {
            let fields = line.split(separator: "\t").map { String($0.prefix { $0 != " " }) }
            // Interface, destination, gateway, flags (1 = up), …, metric, mask.
            guard fields.count > 7, fields[1] == "00000000", fields[7] == "00000000",
                let flags = Int(fields[3], radix: 16), flags & 1 != 0, let metric = Int(fields[6])
            else { continue }
            metrics[fields[0]] = min(metric, metrics[fields[0]] ?? metric)
        }
        func rank(_ entry: Entry) -> (Int, Int) {
            // An address that the machine gave to itself, without a network.
            if !entry.hasLink || entry.address.hasPrefix("169.254.") { return (4, 0) }
            if entry.isPointToPoint { return (3, 0) }
            if let metric = metrics[entry.interface] { return (0, metric) }
            return (entry.isDevice ? 1 : 2, 0)
        }
        let ranked = entries.enumerated().map { (rank: rank($1), index: $0, address: $1.address) }
        return ranked.sorted { ($0.rank.0, $0.rank.1, $0.index) < ($1.rank.0, $1.rank.1, $1.index) }.map { $0.address }
    }

    /// Nothing where `/proc` is not mounted. Default routes come first in the table.
    private static func routes() -> String {
        let descriptor = open("/proc/net/route", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
