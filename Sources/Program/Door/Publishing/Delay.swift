/// When something is to be pushed, as a header says it.
enum Delay {
    /// In seconds.
    static let limit: Int64 = 366 * 86_400

    /// `30`, `30s`, `20 min`, `2h`, `1 day`, or seconds since 1970. A short number is a number of seconds, as ntfy has it.
    ///
    /// - Parameter now: milliseconds since 1970.
    /// - Returns: milliseconds since 1970; a moment that is past is `now`.
    static func moment(_ text: String, now: Int64) throws(DoorError) -> Int64 {
        let text = text.lowercased()
        let digits = text.prefix { "0"..."9" ~= $0 }
        guard !digits.isEmpty, let number = Int64(digits) else { throw .delayUnreadable }
        let unit = text.dropFirst(digits.count).drop { $0 == " " }
        // As a duration it would be 31 years.
        if unit.isEmpty, number >= 1_000_000_000 {
            let (moment, overflow) = number.multipliedReportingOverflow(by: 1_000)
            guard !overflow, moment &- now <= limit &* 1_000 else { throw .delayTooLarge }
            return max(moment, now)
        }
        let (seconds, overflow) = number.multipliedReportingOverflow(by: try length(of: unit))
        guard !overflow, seconds <= limit else { throw .delayTooLarge }
        return now &+ seconds &* 1_000
    }

    private static func length(of unit: Substring) throws(DoorError) -> Int64 {
        switch unit {
        case "", "s", "sec", "secs", "second", "seconds": 1
        case "m", "min", "mins", "minute", "minutes": 60
        case "h", "hour", "hours": 3_600
        case "d", "day", "days": 86_400
        default: throw .delayUnreadable
        }
    }
}
