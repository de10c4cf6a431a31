import Glibc
package import Wire

/// A time zone: what the clock on the wall shows at each moment.
///
/// Moments are seconds since 1970 in UTC; what the clock shows is counted like it, in seconds since its own 1 January
/// 1970, 00:00.
package struct LocalTime: Sendable {
    private let local: @Sendable (Int64) -> Int64

    /// A zone that is handed in.
    package init(_ local: @escaping @Sendable (Int64) -> Int64) { self.local = local }

    /// The time zone of this process (`TZ`, `/etc/localtime`), as it is at the moment of the call.
    package static var system: LocalTime {
        tzset()
        return LocalTime { moment in
            var seconds = time_t(moment)
            var fields = tm()
            guard localtime_r(&seconds, &fields) != nil else { return moment }
            // Not by tm_gmtoff: a zone that counts leap seconds has them in the moments, and not on the wall.
            let date = CivilDate(
                year: Int(fields.tm_year) + 1_900, month: Int(fields.tm_mon) + 1, day: Int(fields.tm_mday))
            let minutes = Int64(fields.tm_hour) * 60 + Int64(fields.tm_min)
            return date.daysSince1970 * 86_400 + minutes * 60 + Int64(fields.tm_sec)
        }
    }

    /// What the clock shows. One that is farther from UTC than any can be counts as if it were as far as that.
    package func at(_ moment: Int64) -> Int64 {
        let moment = min(max(moment, -Self.farthestMoment), Self.farthestMoment)
        return min(max(local(moment), moment - Self.farthest), moment + Self.farthest)
    }

    /// What the clock shows; the moment in milliseconds.
    package func time(at moment: EpochMilliseconds) -> Int64 { at(moment.divided(by: 1_000).quotient) }

    /// ``first(atOrAfter:)`` in milliseconds.
    package func moment(of time: Int64) -> EpochMilliseconds { first(atOrAfter: time) * 1_000 }
}

extension LocalTime {
    /// No clock is farther from UTC: POSIX allows zones of up to 24 hours and 59 minutes either way.
    private static let farthest: Int64 = 25 * 3_600
    /// The year is some 285 million then.
    private static let farthestMoment: Int64 = 1 << 53
    /// A change that is undone within this time may be overlooked; no zone has ever had one.
    private static let step: Int64 = 6 * 3_600

    /// The first moment at which the clock shows `time` or later: the first one if the time occurs twice, the end of
    /// the gap if it is skipped.
    package func first(atOrAfter time: Int64) -> Int64 {
        var moment = time - Self.farthest
        while true {
            let offset = at(moment) - moment
            guard moment + offset < time else { return moment }
            guard let change = nextChange(after: moment, upTo: time - offset) else { return time - offset }
            moment = change
        }
    }

    /// The latest time that the clock has shown by a moment: a later one than it shows then, where it was put back
    /// shortly before.
    package func latest(upTo moment: Int64) -> Int64 {
        // The clock passes over what it was put back by, at most from one end of the zones to the other.
        var start = moment - 2 * Self.farthest
        var latest = at(moment)
        while let change = nextChange(after: start, upTo: moment) {
            latest = max(latest, at(change - 1))
            start = change
        }
        return latest
    }

    /// The first moment in a range at which the clock is put forward or back.
    private func nextChange(after start: Int64, upTo end: Int64) -> Int64? {
        let offset = at(start) - start
        var before = start
        while before < end {
            var after = min(before + Self.step, end)
            guard at(after) - after != offset else {
                before = after
                continue
            }
            while before + 1 < after {
                let middle = before + (after - before) / 2
                if at(middle) - middle == offset { before = middle } else { after = middle }
            }
            return after
        }
        return nil
    }
}
