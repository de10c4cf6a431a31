/// All addresses that begin with the same bits.
package struct AddressRange: Sendable, Hashable {
    let first: IPAddress
    /// How many bits are the same: up to 32 or 128.
    let length: Int

    /// `10.0.0.0/8`, `fd00::/8`, or one address alone. Bits after the prefix must be 0.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let start = parts.first, let first = IPAddress(String(start)) else { return nil }
        let longest = first.isIPv6 ? 128 : 32
        var length = longest
        if parts.count == 2 {
            guard let number = Self.number(parts[1]), number <= longest else { return nil }
            length = number
        }
        self.init(first, length: length)
        let mask = self.mask
        guard first.high & ~mask.high == 0, first.low & ~mask.low == 0 else { return nil }
    }

    init(_ first: IPAddress, length: Int) { (self.first, self.length) = (first, length) }

    package func contains(_ address: IPAddress) -> Bool {
        guard address.isIPv6 == first.isIPv6 else { return false }
        let mask = mask
        return (address.high ^ first.high) & mask.high == 0 && (address.low ^ first.low) & mask.low == 0
    }

    private var mask: (high: UInt64, low: UInt64) {
        // Shifts by 64 or more give 0.
        guard first.isIPv6 else { return (.max, UInt64(UInt32.max) << (32 - length) | ~UInt64(UInt32.max)) }
        return (UInt64.max << max(0, 64 - length), length > 64 ? UInt64.max << (128 - length) : 0)
    }

    /// Decimal digits without a sign or leading zeros.
    private static func number(_ text: Substring) -> Int? {
        guard (1...3).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        guard text == "0" || text.utf8.first != 0x30 else { return nil }
        return Int(text)
    }
}
