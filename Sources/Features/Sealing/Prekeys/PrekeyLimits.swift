/// The counts of prekeys, and their times in milliseconds (WirePrekeys, "Limits").
package struct PrekeyLimits: Sendable {
    /// Single-use prekeys that a device offers.
    package var offered = 32
    /// With fewer a device makes new ones, and a desktop asks for them.
    package var low = 16
    /// A device makes a new last resort when the old one is that old.
    package var day: UInt64 = 24 * 3_600_000
    /// Between two times that a desktop can make a device make prekeys.
    package var interval: UInt64 = 10_000

    /// Single-use keys of one desktop that a device keeps; those that were used count apart. Beyond that it forgets the
    /// oldest.
    package static let stored: Int64 = 256
    /// How long a device keeps a prekey, by its clock.
    package static let lifetime: Int64 = 60 * 86_400_000
    /// How long it keeps a last resort that was replaced, so that late pushes open.
    package static let retirement: Int64 = 7 * 86_400_000
    /// Pushes that one last resort opens.
    package static let openedByLastResort = 256
    /// How long a desktop uses what a device has published, by its own clock.
    package static let use: Int64 = 30 * 86_400_000
    /// A push that is opened this long after it was made is late. More than the clocks of both sides may differ.
    package static let liveTime: Int64 = 5 * 60_000
    /// Single-use prekeys of one statement.
    static let stated = 64

    package init() {}
}
