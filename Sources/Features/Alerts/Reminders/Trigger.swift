package import Calendar
package import Wire

/// When, or where, a reminder comes (bellwire.h, "Reminders").
package enum Trigger: Sendable, Equatable {
    case now
    /// So many seconds after it was added, and each time after the time before.
    case interval(seconds: Int64, repeats: Bool)
    case moment(EpochMilliseconds)
    case calendar(CalendarMatch, repeats: Bool)
    case region(Region, repeats: Bool)

    package var repeats: Bool {
        switch self {
        case .now, .moment: false
        case .interval(_, let repeats), .calendar(_, let repeats), .region(_, let repeats): repeats
        }
    }

    package var region: Region? {
        switch self {
        case .region(let region, _): region
        case .now, .interval, .moment, .calendar: nil
        }
    }

}

extension Trigger {
    /// An interval in milliseconds. It is validated when it is read; the arithmetic here cannot trap in any case.
    static func length(_ seconds: Int64) -> EpochMilliseconds {
        min(max(seconds, 1), longestInterval) * 1_000
    }

    /// A hundred years, in seconds.
    package static let longestInterval: Int64 = 36_525 * 86_400
}
