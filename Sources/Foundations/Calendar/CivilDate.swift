/// A day of the Gregorian calendar, without a time zone.
package struct CivilDate: Sendable, Equatable {
    package let year: Int
    /// 1 to 12.
    package let month: Int
    /// 1 to 31.
    package let day: Int

    package init(year: Int, month: Int, day: Int) { (self.year, self.month, self.day) = (year, month, day) }

    /// The day so many days after 1 January 1970; earlier ones are negative.
    package init(daysSince1970 days: Int64) {
        // Years that begin in March have their leap day last, so that the lengths before it never differ. The calendar
        // repeats itself each 400 years, which are 146,097 days; 719,468 of them lie before 1970, from 1 March 0 on.
        let (era, dayOfEra) = (days &+ 719_468).divided(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        // From March on the months have 153 days each five.
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = Int(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
        month = Int(monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9)
        year = Int(era * 400 + yearOfEra) + (month <= 2 ? 1 : 0)
    }

    package var daysSince1970: Int64 {
        let (era, yearOfEra) = Int64(month <= 2 ? year - 1 : year).divided(by: 400)
        let monthFromMarch = Int64(month > 2 ? month - 3 : month + 9)
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + Int64(day) - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// 1 (Monday) to 7 (Sunday).
    package static func weekday(daysSince1970 days: Int64) -> Int {
        // 1 January 1970 was a Thursday.
        Int((days &+ 3).divided(by: 7).remainder) + 1
    }

    package static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension Int64 {
    /// Rounded down, so that the remainder is never negative. `divisor` is above 0.
    func divided(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
