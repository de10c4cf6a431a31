import Alerts
import Calendar
import Glibc
import JSON
import Wire

/// What the clock in Greenwich shows, without summer time.
let greenwich = LocalTime { $0 }

/// Epoch milliseconds of a time in UTC, such as `2026-03-29T01:00:00`.
func utc(_ text: String) -> EpochMilliseconds {
    let numbers = text.split { !$0.isNumber }.compactMap { Int32($0) }
    var fields = tm()
    (fields.tm_year, fields.tm_mon, fields.tm_mday) = (numbers[0] - 1_900, numbers[1] - 1, numbers[2])
    (fields.tm_hour, fields.tm_min, fields.tm_sec) = (numbers[3], numbers[4], numbers.count > 5 ? numbers[5] : 0)
    return EpochMilliseconds(timegm(&fields)) * 1_000
}

/// The same back again.
func utc(_ moment: EpochMilliseconds) -> String {
    var seconds = time_t(moment / 1_000)
    var fields = tm()
    gmtime_r(&seconds, &fields)
    var text = [CChar](repeating: 0, count: 32)
    let count = strftime(&text, text.count, "%Y-%m-%dT%H:%M:%S", &fields)
    return String(decoding: text[..<count].map(UInt8.init), as: UTF8.self)
}

/// A reminder of this trigger, in the JSON of a host.
func reminder(
    _ id: String = "r", _ trigger: JSONValue?, thread: String? = nil, at now: EpochMilliseconds = 0,
    in zone: LocalTime = greenwich
) throws -> Reminder {
    var json: JSONObject = ["id": .string(id), "title": "T"]
    json["thread"] = thread.map(JSONValue.string)
    json["trigger"] = trigger
    return try Reminder(parsing: json, newID: "new", now: now, in: zone)
}

extension ReminderSchedule {
    /// Looks at each moment at which something is due, as a clock and its timer do: the moments, as text.
    mutating func run(
        _ count: Int, from start: EpochMilliseconds = .min, in zone: LocalTime = greenwich
    ) -> [String] {
        var moments: [String] = []
        while moments.count < count, let next = nextAt {
            let now = max(next, start)
            for firing in passed(now, in: zone).firings { moments.append(utc(firing.dueAt)) }
        }
        return moments
    }
}
