import Glibc

/// A numeric IPv4 or IPv6 address. An IPv4 address that is mapped into IPv6 is an IPv6 address, and no other one's equal.
package struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    package let isIPv6: Bool
    /// The upper half of an IPv6 address; 0 with IPv4.
    let high: UInt64
    /// The lower half of an IPv6 address, or the whole of an IPv4 one.
    let low: UInt64

    init(isIPv6: Bool, high: UInt64, low: UInt64) { (self.isIPv6, self.high, self.low) = (isIPv6, high, low) }

    /// `192.0.2.1` or `2001:db8::1`, in no other spelling: four decimal numbers without leading zeros, no zone.
    package init?(_ text: String) {
        // The system's functions read C strings: they would not see what comes after a NUL.
        guard text.utf8.count < 46, !text.utf8.contains(0) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 {
            self.init(bytes: bytes.prefix(4))
        } else if inet_pton(AF_INET6, text, &bytes) == 1 {
            self.init(bytes: bytes)
        } else {
            return nil
        }
    }

    /// Four or sixteen bytes, as they stand on the wire.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        var halves: (high: UInt64, low: UInt64) = (0, 0)
        for byte in bytes {
            halves.high = halves.high << 8 | halves.low >> 56
            halves.low = halves.low << 8 | UInt64(byte)
        }
        self.init(isIPv6: bytes.count == 16, high: halves.high, low: halves.low)
    }

    package var bytes: [UInt8] {
        let all = [high, low].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * $0)) } }
        return Array(isIPv6 ? all[...] : all[12...])
    }

    package var description: String {
        var text = [CChar](repeating: 0, count: 46)
        inet_ntop(isIPv6 ? AF_INET6 : AF_INET, bytes, &text, 46)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
