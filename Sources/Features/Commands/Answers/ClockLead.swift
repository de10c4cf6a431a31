package import Wire

/// How far this desktop's clock is ahead of one device's, as far as known.
///
/// A request expires by the device's clock (WireMessages, "Repeated and late commands"). A live frame was sealed a
/// moment ago, so the difference of the two times is that of the clocks. A delayed frame looks like a larger
/// difference, so a larger one counts slowly. More than five minutes never count: a device whose clock is off by more
/// gets an error.
package struct ClockLead: Sendable {
    package static let limit: EpochMilliseconds = 5 * 60 * 1_000
    /// A new difference that is larger counts for so little.
    private static let weight: EpochMilliseconds = 64

    private var lead: EpochMilliseconds?

    package init() {}

    /// Something that the device sealed at that moment of its clock has just come live.
    package mutating func note(sealedAt: EpochMilliseconds, now: EpochMilliseconds) {
        let (difference, overflow) = now.subtractingReportingOverflow(sealedAt)
        guard !overflow else { return }
        let new = min(max(difference, -Self.limit), Self.limit)
        let known = lead ?? new
        lead = new <= known ? new : known + (new - known) / Self.weight
    }

    /// The earliest time that the device's clock may show now; never later than ours.
    package func moment(now: EpochMilliseconds) -> EpochMilliseconds {
        let (moment, overflow) = now.subtractingReportingOverflow(max(0, lead ?? 0))
        return overflow ? now : moment
    }
}
