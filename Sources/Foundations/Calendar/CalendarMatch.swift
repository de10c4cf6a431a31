package import Wire

/// The moments at which the local date and time match.
///
/// The given fields must match. A missing field that is finer than the finest given one has its lowest value (1 or 0);
/// all other missing fields match anything: `hour: 9` is 09:00:00 of each day, `minute: 30` half past each hour,
/// `month: 2, hour: 9` 09:00 of each day in February, `day: 13, weekday: 5` each Friday the 13th, `month: 2, day: 29`
/// each leap day.
/// A time that is skipped in spring matches right after the gap; one that occurs twice in autumn matches the first
/// time. Both are the first moment at which the clock shows that time or a later one.
package struct CalendarMatch: Sendable, Equatable {
    /// From the coarsest to the finest; a day of the month and one of the week are as fine.
    package enum Component: String, Sendable, CaseIterable {
        case year, month, day
        /// 1 (Monday) to 7 (Sunday).
        case weekday
        case hour, minute, second

        package var range: ClosedRange<Int> {
            switch self {
            case .year: 1_970...CalendarMatch.lastYear
            case .month: 1...12
            case .day: 1...31
            case .weekday: 1...7
            case .hour: 0...23
            case .minute, .second: 0...59
            }
        }
    }

    /// `nil` = absent.
    package struct Components: Sendable, Equatable {
        package var year, month, day, weekday, hour, minute, second: Int?

        package init(
            year: Int? = nil, month: Int? = nil, day: Int? = nil, weekday: Int? = nil, hour: Int? = nil,
            minute: Int? = nil, second: Int? = nil
        ) {
            (self.year, self.month, self.day, self.weekday) = (year, month, day, weekday)
            (self.hour, self.minute, self.second) = (hour, minute, second)
        }

        package subscript(component: Component) -> Int? {
            get {
                switch component {
                case .year: year
                case .month: month
                case .day: day
                case .weekday: weekday
                case .hour: hour
                case .minute: minute
                case .second: second
                }
            }
            set {
                switch component {
                case .year: year = newValue
                case .month: month = newValue
                case .day: day = newValue
                case .weekday: weekday = newValue
                case .hour: hour = newValue
                case .minute: minute = newValue
                case .second: second = newValue
                }
            }
        }
    }

    /// Nothing is looked for after it.
    package static let lastYear = 9_999

    /// As they were given.
    package let components: Components
    /// With what is finer than the finest.
    private let pattern: Components
    private let second: Int

    /// Fails without any field, and for a field out of its range. A date that never comes, such as 30 February, is
    /// accepted; ``next(after:in:)`` then returns `nil`.
    package init(_ components: Components) throws(CalendarError) {
        var isEmpty = true
        for component in Component.allCases {
            guard let value = components[component] else { continue }
            isEmpty = false
            guard component.range.contains(value) else {
                throw CalendarError(
                    "must be from \(component.range.lowerBound) to \(component.range.upperBound)", component: component)
            }
        }
        guard !isEmpty else {
            throw CalendarError(
                "a calendar match needs at least one of year, month, day, weekday, hour, minute, second")
        }
        self.components = components
        var pattern = components
        if pattern.second == nil {
            pattern.second = 0
            if pattern.minute == nil {
                pattern.minute = 0
                if pattern.hour == nil {
                    pattern.hour = 0
                    if pattern.day == nil, pattern.weekday == nil {
                        pattern.day = 1
                        if pattern.month == nil { pattern.month = 1 }
                    }
                }
            }
        }
        self.pattern = pattern
        second = pattern.second ?? 0
    }

    /// The first match after a moment, in whole seconds; `nil` if there is none before the year 10000.
    package func next(after moment: EpochMilliseconds, in zone: LocalTime = .system) -> EpochMilliseconds? {
        nextTime(after: moment, in: zone).map(zone.moment)
    }

    /// The first match after a moment as the clock shows it, in the seconds of ``LocalTime``: it stays what it is when the
    /// zone changes. What the clock has shown by that moment is over, also where it shows it a second time.
    package func nextTime(after moment: EpochMilliseconds, in zone: LocalTime = .system) -> Int64? {
        let after = max(moment.divided(by: 1_000).quotient, -1)
        guard after < Self.end, let time = next(after: zone.latest(upTo: after)), time < Self.end else { return nil }
        return time
    }
}

extension CalendarMatch {
    private static let secondsOfDay: Int64 = 86_400
    /// When the year 10000 begins.
    private static let end = CivilDate(year: lastYear + 1, month: 1, day: 1).daysSince1970 * secondsOfDay

    /// The first match after a time on the wall.
    private func next(after time: Int64) -> Int64? {
        let (day, time) = (time + 1).divided(by: Self.secondsOfDay)
        guard var match = nextDay(from: day) else { return nil }
        if match == day {
            if let time = timeOfDay(from: time) { return day * Self.secondsOfDay + time }
            guard let next = nextDay(from: day + 1) else { return nil }
            match = next
        }
        return timeOfDay(from: 0).map { match * Self.secondsOfDay + $0 }
    }

    /// The first match at a second of the day or after it.
    private func timeOfDay(from time: Int64) -> Int64? {
        for hour in pattern.hour.map({ $0...$0 }) ?? Int(time / 3_600)...23 {
            for minute in pattern.minute.map({ $0...$0 }) ?? 0...59 {
                let match = Int64((hour * 60 + minute) * 60 + second)
                if match >= time { return match }
            }
        }
        return nil
    }

    /// The first day that matches, from one on; days since 1970.
    private func nextDay(from day: Int64) -> Int64? {
        let start = CivilDate(daysSince1970: day)
        // The calendar repeats itself each 400 years, weekdays included: what has not come by then never comes.
        let years = pattern.year.map { $0...$0 } ?? start.year...max(start.year, min(start.year + 400, Self.lastYear))
        for year in years where year >= start.year {
            for month in pattern.month.map({ $0...$0 }) ?? 1...12 where year > start.year || month >= start.month {
                let isFirst = year == start.year && month == start.month
                if let match = nextDay(in: year, month, from: isFirst ? start.day : 1) { return match }
            }
        }
        return nil
    }

    private func nextDay(in year: Int, _ month: Int, from first: Int) -> Int64? {
        let length = CivilDate.days(inMonth: month, of: year)
        var match = pattern.day ?? first
        guard match >= first, match <= length else { return nil }
        let day = CivilDate(year: year, month: month, day: match).daysSince1970
        guard let weekday = pattern.weekday else { return day }
        let wait = (weekday - CivilDate.weekday(daysSince1970: day) + 7) % 7
        match += wait
        return wait == 0 || pattern.day == nil && match <= length ? day + Int64(wait) : nil
    }
}
