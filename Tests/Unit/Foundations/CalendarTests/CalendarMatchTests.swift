import Calendar
import Glibc
import TestSupport
import Testing
import Wire

/// What the clock in Greenwich shows, without summer time.
private let utc = LocalTime { $0 }

private func moment(_ year: Int, _ month: Int, _ day: Int, _ hour: Int = 0, _ minute: Int = 0, _ second: Int = 0)
    -> EpochMilliseconds
{
    var fields = tm()
    (fields.tm_year, fields.tm_mon, fields.tm_mday) = (Int32(year - 1_900), Int32(month - 1), Int32(day))
    (fields.tm_hour, fields.tm_min, fields.tm_sec) = (Int32(hour), Int32(minute), Int32(second))
    return EpochMilliseconds(timegm(&fields)) * 1_000
}

@Suite struct CalendarMatchTests {
    private typealias Components = CalendarMatch.Components

    /// The first matches after a moment, one after the other.
    private func matches(
        _ components: Components, after start: EpochMilliseconds, _ count: Int, in zone: LocalTime = utc
    ) throws -> [EpochMilliseconds] {
        let match = try CalendarMatch(components)
        var moments: [EpochMilliseconds] = []
        while moments.count < count, let next = match.next(after: moments.last ?? start, in: zone) {
            moments.append(next)
        }
        return moments
    }

    @Test("what is finer than the finest is the first, what else is absent is any")
    func absent() throws {
        let start = moment(2026, 1, 30, 22, 15, 30)
        #expect(
            try matches(.init(second: 5), after: start, 2) == [
                moment(2026, 1, 30, 22, 16, 5), moment(2026, 1, 30, 22, 17, 5),
            ])
        #expect(
            try matches(.init(minute: 30), after: start, 3) == [
                moment(2026, 1, 30, 22, 30), moment(2026, 1, 30, 23, 30), moment(2026, 1, 31, 0, 30),
            ])
        #expect(
            try matches(.init(hour: 9), after: start, 3) == [
                moment(2026, 1, 31, 9), moment(2026, 2, 1, 9), moment(2026, 2, 2, 9),
            ])
        #expect(
            try matches(.init(hour: 22, second: 7), after: start, 2) == [
                moment(2026, 1, 30, 22, 16, 7), moment(2026, 1, 30, 22, 17, 7),
            ])
        #expect(try matches(.init(weekday: 1), after: start, 2) == [moment(2026, 2, 2), moment(2026, 2, 9)])
        #expect(
            try matches(.init(day: 31), after: start, 3) == [
                moment(2026, 1, 31), moment(2026, 3, 31), moment(2026, 5, 31),
            ])
        #expect(
            try matches(.init(month: 2, hour: 9), after: start, 2) == [moment(2026, 2, 1, 9), moment(2026, 2, 2, 9)])
        #expect(try matches(.init(month: 2), after: start, 2) == [moment(2026, 2, 1), moment(2027, 2, 1)])
        #expect(try matches(.init(month: 2, weekday: 7), after: start, 5).last == moment(2027, 2, 7))
        #expect(try matches(.init(year: 2028), after: start, 2) == [moment(2028, 1, 1)])
        #expect(
            try matches(.init(day: 13, weekday: 5), after: start, 3) == [
                moment(2026, 2, 13), moment(2026, 3, 13), moment(2026, 11, 13),
            ])
    }

    @Test("a match is after the moment, not at it; milliseconds and midnight make no difference")
    func after() throws {
        let nine = moment(2026, 7, 1, 9)
        for (start, expected) in [
            (nine - 1, nine), (nine, moment(2026, 7, 2, 9)), (nine + 1, moment(2026, 7, 2, 9)),
            (nine + 999, moment(2026, 7, 2, 9)), (moment(2025, 12, 31, 23, 59, 59) + 999, moment(2026, 1, 1, 9)),
        ] {
            #expect(try matches(.init(hour: 9), after: start, 1) == [expected])
        }
        #expect(try matches(.init(hour: 0, minute: 0), after: moment(2026, 1, 1) - 1, 1) == [moment(2026, 1, 1)])
        #expect(
            try matches(.init(hour: 23, minute: 59, second: 59), after: moment(2026, 1, 1), 1) == [
                moment(2026, 1, 1, 23, 59, 59)
            ])
    }

    @Test("29 February is each leap year, also across a century without one; with a weekday each 28 years")
    func leapDays() throws {
        let leapDay = Components(month: 2, day: 29, hour: 12)
        #expect(
            try matches(leapDay, after: moment(2026, 1, 1), 2) == [moment(2028, 2, 29, 12), moment(2032, 2, 29, 12)])
        #expect(try matches(leapDay, after: moment(2096, 3, 1), 1) == [moment(2104, 2, 29, 12)])
        #expect(try matches(leapDay, after: moment(2396, 3, 1), 1) == [moment(2400, 2, 29, 12)])
        #expect(
            try matches(.init(month: 2, day: 29, weekday: 1), after: moment(2025, 1, 1), 2) == [
                moment(2044, 2, 29), moment(2072, 2, 29),
            ])
        // 1 March of each year, whatever went before it.
        #expect(
            try matches(.init(month: 3, day: 1), after: moment(2027, 3, 1), 2) == [
                moment(2028, 3, 1), moment(2029, 3, 1),
            ])
    }

    @Test("what never comes is never found, and takes no time")
    func never() throws {
        let start = moment(2026, 6, 1)
        let time = try processorTime {
            for components in [
                Components(month: 2, day: 30), Components(month: 4, day: 31), Components(year: 2025),
                Components(year: 2026, month: 5), Components(year: 2027, month: 2, day: 29),
                Components(year: 2026, month: 12, day: 24, weekday: 1), Components(year: 1970, hour: 3),
                Components(month: 2, day: 31, weekday: 3, hour: 23, minute: 59, second: 59),
            ] {
                let next = try CalendarMatch(components).next(after: start)
                #expect(next == nil)
            }
        }
        #expect(time < .seconds(1))
    }

    @Test("nothing comes after the year 9999, and no moment is too early or too late to ask about")
    func extremes() throws {
        let second = try CalendarMatch(.init(second: 59))
        #expect(second.next(after: moment(9999, 12, 31, 23, 59, 58), in: utc) == moment(9999, 12, 31, 23, 59, 59))
        #expect(second.next(after: moment(9999, 12, 31, 23, 59, 59), in: utc) == nil)
        #expect(second.next(after: .max) == nil)
        #expect(second.next(after: .min, in: utc) == 59_000)
        #expect(
            try CalendarMatch(.init(year: 9999, month: 12, day: 31)).next(after: 0, in: utc) == moment(9999, 12, 31))
        #expect(try CalendarMatch(.init(year: 1970)).next(after: -1, in: utc) == 0)
        // A zone that says anything at all: any answer, but an answer.
        let day: Int64 = 86_400
        for zone in [
            LocalTime { _ in 0 }, LocalTime { _ in .max }, LocalTime { _ in .min }, LocalTime { -$0 },
            LocalTime { $0 / day % 2 == 0 ? .max : .min }, LocalTime { $0 / 3_600 * 3_600 },
        ] {
            _ = second.next(after: moment(2026, 1, 1), in: zone)
        }
    }

    @Test(
        "a component out of its range has no match, and the error names it",
        arguments: CalendarMatch.Component.allCases)
    func ranges(component: CalendarMatch.Component) throws {
        for value in [component.range.lowerBound - 1, component.range.upperBound + 1, -1, .min, .max] {
            var components = Components()
            components[component] = value
            #expect { try CalendarMatch(components) } throws: { ($0 as? CalendarError)?.component == component }
        }
        for value in [component.range.lowerBound, component.range.upperBound] {
            var components = Components()
            components[component] = value
            #expect(try CalendarMatch(components).components[component] == value)
        }
    }

    @Test("a match of nothing is none")
    func empty() {
        #expect(throws: CalendarError.self) { try CalendarMatch(Components()) }
    }

    @Test("each match of a calendar that is tried second by second is found, and nothing else")
    func exhaustive() throws {
        // A zone of the test's own: an hour is skipped on the second day, and one comes twice on the third.
        let zone = LocalTime { moment in
            let isSummer = 86_400 + 7_200..<2 * 86_400 + 10_800 ~= moment
            return moment + (isSummer ? 3_600 : 0)
        }
        for components in [
            Components(hour: 2, minute: 30), Components(minute: 15), Components(hour: 3), Components(second: 40),
            Components(day: 3, minute: 30), Components(weekday: 6, hour: 2, second: 1),
        ] {
            // What the definition says, tried out: the clock shows that time or a later one for the first time.
            var expected: [EpochMilliseconds] = []
            var latest = zone.at(0) - 1
            for second in Int64(0)..<4 * 86_400 {
                let now = zone.at(second)
                defer { latest = max(latest, now) }
                guard now > latest else { continue }
                if (latest + 1...now).contains(where: { isMatch(components, $0) }) { expected.append(second * 1_000) }
            }
            let found = try matches(components, after: -1, expected.count + 1, in: zone).filter { $0 < 4 * 86_400_000 }
            #expect(found == expected)
            #expect(!expected.isEmpty)
        }
    }

    private func isMatch(_ components: Components, _ time: Int64) -> Bool {
        var seconds = time_t(time)
        var fields = tm()
        gmtime_r(&seconds, &fields)
        func fits(_ value: Int?, _ field: Int32) -> Bool { value.map { $0 == Int(field) } ?? true }
        let isHourFree = components.second != nil || components.minute != nil
        return fits(components.day, fields.tm_mday) && fits(components.weekday, (fields.tm_wday + 6) % 7 + 1)
            && fits(components.hour ?? (isHourFree ? nil : 0), fields.tm_hour)
            && fits(components.minute ?? (components.second != nil ? nil : 0), fields.tm_min)
            && fits(components.second ?? 0, fields.tm_sec)
    }
}
