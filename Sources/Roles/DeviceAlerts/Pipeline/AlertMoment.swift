/// When an event happens, and by which rules.
///
/// A class, because it is handed through every step.
final class AlertMoment {
    /// The loop's monotonic milliseconds.
    let now: UInt64
    let judge: AlertJudge

    init(now: UInt64, judge: AlertJudge) { (self.now, self.judge) = (now, judge) }
}
