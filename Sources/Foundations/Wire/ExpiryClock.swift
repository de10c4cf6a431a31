/// The moment by which stored things end, if their end is a time of the wall clock (``ExpiryClock``).
package struct ExpiryMoment: Sendable, Equatable {
    /// The wall clock's time, without a jump ahead that has not lasted yet. Never ahead of the wall clock by more than
    /// ``ExpiryClock/tolerance``.
    package let now: EpochMilliseconds
    /// What ended through this time may only seem to have ended: the clock was first read then, and may have been wrong.
    private let doubtedThrough: EpochMilliseconds

    /// - Parameter doubtedThrough: `.min` = nothing is in doubt.
    package init(_ now: EpochMilliseconds, doubtedThrough: EpochMilliseconds = .min) {
        (self.now, self.doubtedThrough) = (now, doubtedThrough)
    }

    /// Whether something with this end has ended.
    package func hasPassed(_ end: EpochMilliseconds) -> Bool { end <= now && end > doubtedThrough }

    /// When to look again at something that ends then, in milliseconds; 0 = it has ended.
    package func remaining(until end: EpochMilliseconds) -> EpochMilliseconds {
        if hasPassed(end) { return 0 }
        let (left, overflow) = end.subtractingReportingOverflow(now)
        return end <= now ? ExpiryClock.settlingTime : overflow ? .max : left
    }

    /// For what is deleted by its age and could be needed again: the present, or the beginning of time while the clock is in doubt.
    package var pruning: EpochMilliseconds { doubtedThrough == .min ? now : 0 }
}

/// Tells a wall clock that was set from time that has passed, so that a wrong clock ends nothing early.
///
/// Pure: it gets the readings of the wall clock and of the clock that counts since the boot, which also counts in
/// suspend. Their difference changes only when the wall clock is set.
///
/// - Set ahead: the new time counts once it has lasted for ``settlingTime``. Until then time goes on from the old one.
/// - Set back: the new time counts at once. Nothing ends early by it.
/// - After the first reading, what had ended by then does not count as ended for ``settlingTime``. What ends later does.
package struct ExpiryClock: Sendable {
    /// In milliseconds.
    package static let settlingTime: Int64 = 120_000
    /// Smaller corrections are no jump, in milliseconds.
    package static let tolerance: Int64 = 10_000

    private struct Jump: Sendable {
        let lead: Int64
        let since: Int64
    }

    private struct Doubt: Sendable {
        let through: EpochMilliseconds
        let since: Int64
    }

    /// The wall clock's lead over the boot's clock, as far as it is believed.
    private var lead: Int64?
    private var jump: Jump?
    private var doubt: Doubt?

    package init() {}

    /// - Parameters:
    ///   - wall: the wall clock's time.
    ///   - boot: milliseconds since the boot. Never goes back.
    package mutating func read(wall: EpochMilliseconds, boot: Int64) -> ExpiryMoment {
        let new = wall &- boot
        guard let known = lead else {
            lead = new
            doubt = Doubt(through: wall, since: boot)
            return ExpiryMoment(wall, doubtedThrough: wall)
        }
        if new &- known > Self.tolerance {
            if let jump, (new &- jump.lead).magnitude <= Self.tolerance.magnitude {
                if boot &- jump.since >= Self.settlingTime { believe(new) }
            } else {
                jump = Jump(lead: new, since: boot)
            }
        } else {
            jump = nil
            lead = new
            if doubt != nil, known &- new > Self.tolerance { doubt = Doubt(through: wall, since: boot) }
        }
        if let doubt, boot &- doubt.since >= Self.settlingTime { self.doubt = nil }
        return ExpiryMoment(boot &+ (lead ?? new), doubtedThrough: doubt?.through ?? .min)
    }

    private mutating func believe(_ new: Int64) { (lead, jump, doubt) = (new, nil, nil) }
}
