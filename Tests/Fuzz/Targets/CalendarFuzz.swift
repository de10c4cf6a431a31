@testable import Alerts
import Calendar
import JSON

extension FuzzTarget {
    /// A host's trigger that was read and written reads as the same one.
    static let trigger = FuzzTarget("trigger", limit: 512) { bytes in
        guard let value = JSONValue(fuzzed: bytes), let trigger = try? Trigger(parsing: value) else { return }
        let text = JSONValue.object(trigger.json).serialized()
        try require(try Trigger(parsing: try JSONValue(parsing: text)) == trigger, "it reads back as another: \(text)")
        if let minute = (value["at"]?.string).flatMap(TimeOfDay.minute) {
            try require((0..<1_440).contains(minute), "a day of more minutes")
        }
    }

    /// The next match comes after the moment, shows what was asked for, and none comes before it, in zones with gaps.
    static let calendar = FuzzTarget("calendar", limit: 64) { bytes in
        var input = FuzzInput(bytes)
        var components = CalendarMatch.Components()
        for component in CalendarMatch.Component.allCases where input.flag() {
            components[component] = component == .year ? input.number(1_969...2_040) : input.number(0...61)
        }
        guard let match = try? CalendarMatch(components) else { return }
        let offset = Int64(input.number(0...100)) * 900 - 43_200
        let change = Int64(input.number(0...3)) * 1_800 - 2_700
        let at = Int64(input.number(0...40_000)) * 60 + 1_000_000_000
        let zone = LocalTime { $0 + offset + ($0 >= at ? change : 0) }
        let moment = input.flag() ? input.integer() : (at + Int64(input.number(0...20_000)) - 10_000) * 1_000
        guard let next = match.next(after: moment, in: zone) else { return }
        try require(next > moment, "the next match is not after the moment")
        let second = next / 1_000
        let shown = zone.at(second)
        let isGap = zone.at(second - 1) + 1 != shown
        try require(isGap || Self.matches(components, shown), "at \(next) the clock shows something else")
        // Nothing before it that the clock shows for the first time.
        let first = max(moment / 1_000 + 1, second - 4_000, 0)
        var latest = zone.latest(upTo: first - 1)
        for earlier in first..<max(first, second) {
            let time = zone.at(earlier)
            guard time > latest else { continue }
            try require(!Self.matches(components, time) || time != latest + 1, "\(earlier) matches before \(second)")
            latest = time
        }
    }

    private static func matches(_ components: CalendarMatch.Components, _ time: Int64) -> Bool {
        let day = time >= 0 ? time / 86_400 : (time - 86_399) / 86_400
        let date = CivilDate(daysSince1970: day)
        let second = Int(time - day * 86_400)
        var finest = components
        // What is finer than the finest has its lowest value.
        if finest.second == nil {
            finest.second = 0
            if finest.minute == nil {
                finest.minute = 0
                if finest.hour == nil {
                    finest.hour = 0
                    if finest.day == nil, finest.weekday == nil {
                        finest.day = 1
                        if finest.month == nil { finest.month = 1 }
                    }
                }
            }
        }
        let shown: [(Int?, Int)] = [
            (finest.year, date.year), (finest.month, date.month), (finest.day, date.day),
            (finest.weekday, CivilDate.weekday(daysSince1970: day)), (finest.hour, second / 3_600),
            (finest.minute, second / 60 % 60), (finest.second, second % 60),
        ]
        return shown.allSatisfy { $0 == nil || $0 == $1 }
    }
}
