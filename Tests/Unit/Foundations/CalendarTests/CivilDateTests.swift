import Calendar
import Glibc
import Testing

@Suite struct CivilDateTests {
    @Test("days and dates are those of the C library, for each day of 800 years")
    func everyDay() {
        for day in Int64(-150_000)...150_000 {
            var seconds = time_t(day * 86_400)
            var fields = tm()
            gmtime_r(&seconds, &fields)
            let date = CivilDate(daysSince1970: day)
            guard
                date.year == Int(fields.tm_year) + 1_900, date.month == Int(fields.tm_mon) + 1,
                date.day == Int(fields.tm_mday), date.daysSince1970 == day,
                CivilDate.weekday(daysSince1970: day) == Int(fields.tm_wday + 6) % 7 + 1
            else {
                Issue.record("day \(day) is not \(date)")
                return
            }
        }
    }

    @Test("a month has the days up to the first of the next")
    func lengths() {
        for year in 1_890...2_410 {
            for month in 1...12 {
                let next =
                    month == 12
                    ? CivilDate(year: year + 1, month: 1, day: 1) : .init(year: year, month: month + 1, day: 1)
                let length = next.daysSince1970 - CivilDate(year: year, month: month, day: 1).daysSince1970
                #expect(CivilDate.days(inMonth: month, of: year) == Int(length))
            }
        }
    }

    @Test("no day is too far")
    func extremes() {
        for day in [Int64.min, .max, .min / 86_400, .max / 86_400] {
            _ = CivilDate(daysSince1970: day)
            _ = CivilDate.weekday(daysSince1970: day)
        }
    }
}
