/// The addresses that may be connected to if a peer chose the host name: public ones, and those that are allowed.
///
/// Public addresses are those outside IANA's registries of special addresses (RFC 6890); for IPv6 only the allocated
/// range, `2000::/3`. An address that embeds an IPv4 address (mapped, NAT64, 6to4, Teredo) is refused, because it would
/// be a second way to reach that address. NAT64 with a network's own prefix cannot be recognised.
package struct AddressRule: Sendable {
    /// Ranges that may be connected to although they are not public.
    package let allowed: [AddressRange]

    package init(allowing allowed: [AddressRange] = []) { self.allowed = allowed }

    package func permits(_ address: IPAddress) -> Bool {
        guard let inner = Self.translated(address) else {
            return Self.isPublic(address) || allowed.contains { $0.contains(address) }
        }
        // Whoever allows a translator's addresses does not allow by it what lies behind the translator.
        return allowed.contains { $0.contains(address) } && permits(inner)
    }

    /// Whether the address is one of the internet's own.
    package static func isPublic(_ address: IPAddress) -> Bool {
        guard address.isIPv6 else { return !special.contains { $0.contains(address) } }
        return given.contains(address) && !specialIPv6.contains { $0.contains(address) }
    }

    /// The IPv4 address that a translator or tunnel would send it on to.
    private static func translated(_ address: IPAddress) -> IPAddress? {
        guard address.isIPv6 else { return nil }
        let low = UInt64(UInt32.max)
        if mapped.contains(address) || nat64.contains(address) {
            return IPAddress(isIPv6: false, high: 0, low: address.low & low)
        }
        return sixToFour.contains(address) ? IPAddress(isIPv6: false, high: 0, low: address.high >> 16 & low) : nil
    }

    private static func range(_ address: UInt64, _ length: Int) -> AddressRange {
        AddressRange(IPAddress(isIPv6: false, high: 0, low: address), length: length)
    }

    private static func rangeIPv6(_ high: UInt64, _ length: Int, low: UInt64 = 0) -> AddressRange {
        AddressRange(IPAddress(isIPv6: true, high: high, low: low), length: length)
    }

    private static let special: [AddressRange] = [
        range(0x0000_0000, 8),  // this host, this network
        range(0x0a00_0000, 8),  // private
        range(0x6440_0000, 10),  // carriers' private
        range(0x7f00_0000, 8),  // loopback
        range(0xa83f_8110, 32),  // 168.63.129.16: a cloud tells its machines about themselves here
        range(0xa9fe_0000, 16),  // link-local; cloud machines answer about themselves here
        range(0xac10_0000, 12),  // private
        range(0xc000_0000, 24),  // protocols
        range(0xc000_0200, 24),  // documentation
        range(0xc058_6300, 24),  // 6to4's relays
        range(0xc0a8_0000, 16),  // private
        range(0xc612_0000, 15),  // benchmarks
        range(0xc633_6400, 24),  // documentation
        range(0xcb00_7100, 24),  // documentation
        range(0xe000_0000, 4),  // multicast
        range(0xf000_0000, 4),  // reserved, broadcast
    ]

    /// Outside of it are loopback, link-local, site-local, unique local, multicast, mapped and NAT64.
    private static let given = rangeIPv6(0x2000_0000_0000_0000, 3)

    private static let specialIPv6: [AddressRange] = [
        rangeIPv6(0x2001_0000_0000_0000, 23),  // protocols; Teredo, benchmarks, ORCHID
        rangeIPv6(0x2001_0db8_0000_0000, 32),  // documentation
        sixToFour,
        rangeIPv6(0x3fff_0000_0000_0000, 20),  // documentation
    ]

    private static let mapped = rangeIPv6(0, 96, low: 0xffff_0000_0000)
    private static let nat64 = rangeIPv6(0x0064_ff9b_0000_0000, 96)
    private static let sixToFour = rangeIPv6(0x2002_0000_0000_0000, 16)
}
