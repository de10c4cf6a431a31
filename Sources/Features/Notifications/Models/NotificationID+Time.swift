package import Wire

extension NotificationID {
    /// A new id that begins with its moment, written like a UUID (version 7).
    ///
    /// Ids that are made one after another stand side by side in an index over them: a database writes one page for many
    /// of them, where random ones (``init(random:_:)``) need a page each.
    ///
    /// - Parameters:
    ///   - moment: counts with its low 48 bits.
    ///   - high: 12 of its bits are used, of `low` 62.
    package init(at moment: EpochMilliseconds, random high: UInt64, _ low: UInt64) {
        let time = UInt64(bitPattern: moment) & 0xffff_ffff_ffff
        self.init(uuid: time << 16 | 0x7000 | high & 0xfff, low & ~(0b11 << 62) | (0b10 << 62))
    }
}
