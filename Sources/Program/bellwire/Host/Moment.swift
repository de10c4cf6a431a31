import Glibc

/// A moment as people write it.
enum Moment {
    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800]

    /// A date, a date and a time, a time of today (all local), `today`, `yesterday`, how long ago, such as `2h`, or
    /// milliseconds since 1970, as JSON output has them.
    ///
    /// - Returns: milliseconds since 1970.
    static func parse(_ text: String) -> Int64? {
        let now = Int64(time(nil))
        if let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()), count >= 0, count < 1 << 32
        {
            return (now &- count &* unit) &* 1000
        }
        if text.utf8.count >= 12, text.utf8.allSatisfy({ (48...57).contains($0) }) { return Int64(text) }
        switch text {
        case "today": return startOfDay(now, daysBefore: 0)
        case "yesterday": return startOfDay(now, daysBefore: 1)
        default: break
        }
        // A date, a time, or both with a space or a T between them.
        let halves = text.split(whereSeparator: { $0 == " " || $0 == "T" }).map(String.init)
        guard let first = halves.first, halves.count <= 2, var parts = local(now) else { return nil }
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (0, 0, 0)
        let isDate = first.contains("-")
        if isDate {
            guard let date = numbers(first, "-", widths: [4, 2, 2]), (1...12).contains(date[1]) else { return nil }
            (parts.tm_year, parts.tm_mon, parts.tm_mday) = (date[0] - 1900, date[1] - 1, date[2])
        }
        if let clock = isDate ? halves.dropFirst().first : first {
            guard let time = numbers(clock, ":", widths: [2, 2]) ?? numbers(clock, ":", widths: [2, 2, 2]),
                time[0] < 24, time[1...].allSatisfy({ $0 < 60 }), isDate || halves.count == 1
            else { return nil }
            (parts.tm_hour, parts.tm_min, parts.tm_sec) = (time[0], time[1], time.count > 2 ? time[2] : 0)
        }
        return moment(of: parts)
    }

    /// Numbers of just so many digits, with separators between them.
    private static func numbers(_ text: String, _ separator: Character, widths: [Int]) -> [Int32]? {
        let parts = text.split(separator: separator, omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == widths, parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } })
        else { return nil }
        return parts.compactMap { Int32($0) }
    }

    /// `nil` for a day that no month has, such as 30 February.
    private static func moment(of parts: tm) -> Int64? {
        var parts = parts
        let day = parts.tm_mday
        parts.tm_isdst = -1
        let seconds = mktime(&parts)
        return parts.tm_mday == day ? Int64(seconds) &* 1000 : nil
    }

    private static func startOfDay(_ now: Int64, daysBefore days: Int32) -> Int64? {
        guard var parts = local(now) else { return nil }
        (parts.tm_hour, parts.tm_min, parts.tm_sec, parts.tm_isdst) = (0, 0, 0, -1)
        parts.tm_mday &-= days
        return Int64(mktime(&parts)) &* 1000
    }

    private static func local(_ now: Int64) -> tm? {
        tzset()
        var seconds = time_t(now)
        var parts = tm()
        return localtime_r(&seconds, &parts) == nil ? nil : parts
    }
}
