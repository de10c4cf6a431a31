import Glibc
package import Wire

/// The wall clock, with its time zone as a parameter.
package struct WallClock: Sendable {
    /// The minute of the local day, 0 to 1439.
    package let minuteOfDay: @Sendable (EpochMilliseconds) -> Int

    package init(minuteOfDay: @escaping @Sendable (EpochMilliseconds) -> Int) { self.minuteOfDay = minuteOfDay }

    /// The time zone of this process (`TZ`, `/etc/localtime`), as it is at the moment of the call.
    package static let system = WallClock { moment in
        // A computer that travels changes /etc/localtime under us: only tzset() looks again.
        tzset()
        // Rounded down: one millisecond before 1970 is 23:59 of the day before.
        var seconds = time_t(moment / 1_000) - (moment % 1_000 < 0 ? 1 : 0)
        var local = tm()
        guard localtime_r(&seconds, &local) != nil else { return 0 }
        return Int(local.tm_hour) * 60 + Int(local.tm_min)
    }
}
