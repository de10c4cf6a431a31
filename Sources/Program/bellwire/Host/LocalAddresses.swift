import Glibc

/// The addresses by which other machines of the local network can reach this one.
enum LocalAddresses {
    /// IPv4 addresses of interfaces that are up; those of private networks first. Bridges of containers and of virtual
    /// machines lead nowhere else and are left out.
    static func all() -> [String] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        var found: [(isPrivate: Bool, text: String)] = []
        var next = first
        while let interface = next?.pointee {
            next = interface.ifa_next
            let flags = interface.ifa_flags
            guard flags & UInt32(IFF_UP) != 0, flags & UInt32(IFF_LOOPBACK) == 0,
                let address = interface.ifa_addr, address.pointee.sa_family == sa_family_t(AF_INET),
                !isVirtual(String(cString: interface.ifa_name))
            else { continue }
            let bytes = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin_addr.s_addr) { [UInt8]($0) }
            }
            found.append((isPrivate(bytes), bytes.map { "\($0)" }.joined(separator: ".")))
        }
        return found.filter(\.isPrivate).map(\.text) + found.filter { !$0.isPrivate }.map(\.text)
    }

    private static func isVirtual(_ name: String) -> Bool {
        ["docker", "br-", "veth", "virbr", "lxc", "lxd", "podman", "cni"].contains { name.hasPrefix($0) }
    }

    /// RFC 1918.
    private static func isPrivate(_ address: [UInt8]) -> Bool {
        switch (address[0], address[1]) {
        case (10, _), (172, 16...31), (192, 168): true
        default: false
        }
    }
}
