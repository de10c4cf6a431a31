package import Wire

extension NotificationID {
    /// A new id out of 128 random bits, written like the UUIDs (version 4) of deployed desktops.
    package init(random high: UInt64, _ low: UInt64) {
        self.init(uuid: high & ~0xf000 | 0x4000, low & ~(0b11 << 62) | (0b10 << 62))
    }

    init(uuid high: UInt64, _ low: UInt64) {
        func hex(_ value: UInt64, _ digits: Int) -> String {
            let text = String(value, radix: 16)
            return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
        }
        let parts = [
            hex(high >> 32, 8), hex(high >> 16 & 0xffff, 4), hex(high & 0xffff, 4), hex(low >> 48, 4),
            hex(low & 0xffff_ffff_ffff, 12),
        ]
        self.init(parts.joined(separator: "-"))
    }
}
