package import Calendar
package import JSON
package import Wire

/// The device's own settings for its alerts. The desktops' are another thing, and never mixed with these.
package struct AlertSettings: Sendable, Equatable {
    /// False: everything reaches the inbox and the program, and nothing is shown.
    package var enabled = true
    package var quietHoursEnabled = false
    /// `HH:mm`, in the time zone of this device. A range may cross midnight; with start = end it is never quiet.
    package var quietHoursStart = "22:00"
    package var quietHoursEnd = "08:00"
    package var soundEnabled = true
    /// False: the title alone is shown.
    package var showPreview = true
    /// So many pushes of one source alert within a second; one alert sums up those beyond. 0 = each one alerts; `nil` =
    /// the user has not set it, so the program's option decides.
    package var burstLimit: Int64?
    /// Whether a click on an alert may open its link, in programs that open links at all.
    package var openLinks = false
    /// True or false for a source, such as `pc`; one that is not here is allowed.
    private(set) var sources: JSONObject = [:]
    /// The same for a category.
    private(set) var categories: JSONObject = [:]

    /// So many sources, and so many categories, may be spoken of.
    package static let nameCount = 256

    package init() {}

    package func allows(source: String) -> Bool { sources[source]?.bool ?? true }
    package func allows(category: String) -> Bool { categories[category]?.bool ?? true }

    /// As they are stored, and, with a burst limit, as `bw_alerts_settings` gives them.
    package var json: JSONObject {
        [
            "enabled": .bool(enabled),
            "quietHoursEnabled": .bool(quietHoursEnabled),
            "quietHoursStart": .string(quietHoursStart),
            "quietHoursEnd": .string(quietHoursEnd),
            "soundEnabled": .bool(soundEnabled),
            "showPreview": .bool(showPreview),
            "burstLimit": burstLimit.map(JSONValue.integer),
            "openLinks": .bool(openLinks),
            "sources": .object(sources),
            "categories": .object(categories),
        ]
    }

    /// What was stored. What cannot be read has its default.
    package init(stored object: JSONObject) {
        for member in object.members {
            var settings = self
            guard (try? settings.apply([member.key: member.value])) != nil else { continue }
            self = settings
        }
    }

    /// Takes a change: any of the members of ``json``, at least one. All of it, or, with an error, nothing.
    ///
    /// Of `sources` and `categories` only those that are named change; with `null` one is forgotten, and so is allowed.
    package mutating func apply(_ change: JSONObject) throws(AlertsError) {
        let reader = try FieldReader(change, allowing: json.keys + ["burstLimit"])
        guard !change.isEmpty else {
            throw AlertsError("no settings given; pass at least one")
        }
        var settings = self
        settings.enabled = try reader.flag("enabled") ?? enabled
        settings.quietHoursEnabled = try reader.flag("quietHoursEnabled") ?? quietHoursEnabled
        settings.quietHoursStart = try AlertSettings.time("quietHoursStart", reader) ?? quietHoursStart
        settings.quietHoursEnd = try AlertSettings.time("quietHoursEnd", reader) ?? quietHoursEnd
        settings.soundEnabled = try reader.flag("soundEnabled") ?? soundEnabled
        settings.showPreview = try reader.flag("showPreview") ?? showPreview
        settings.burstLimit = try reader.integer("burstLimit", in: 0...100) ?? burstLimit
        settings.openLinks = try reader.flag("openLinks") ?? openLinks
        settings.sources = try AlertSettings.names("sources", reader, over: sources)
        settings.categories = try AlertSettings.names("categories", reader, over: categories)
        self = settings
    }

    private static func time(_ name: String, _ reader: FieldReader) throws(AlertsError) -> String? {
        guard let text = try reader.text(name, 0...64) else { return nil }
        guard TimeOfDay.isValid(text) else { throw reader.fault(name, "must be a time of day as HH:mm") }
        return text
    }

    private static func names(
        _ name: String, _ reader: FieldReader, over known: JSONObject
    ) throws(AlertsError) -> JSONObject {
        var names = known
        for member in try reader.object(name, limit: .max)?.members ?? [] {
            let field = "\(name).\(FieldReader.shown(member.key))"
            guard (1...AlertContent.nameLimit).contains(member.key.utf8.count), PlainText.isPlain(member.key) else {
                throw reader.fault(name, "has an empty, too long or invalid name")
            }
            switch member.value {
            case .bool: names[member.key] = member.value
            case .null: names[member.key] = nil
            case .integer, .double, .string, .array, .object:
                throw reader.fault(field, "must be true, false or null, not \(member.value.typeName)")
            }
            guard names.count <= nameCount else { throw reader.fault(name, "has more than \(nameCount) names") }
        }
        return names
    }
}

// Quiet hours, in the time zone of this device.
extension AlertSettings {
    private var quietHours: QuietHours? {
        guard quietHoursEnabled, let start = TimeOfDay.minute(of: quietHoursStart),
            let end = TimeOfDay.minute(of: quietHoursEnd)
        else { return nil }
        return QuietHours(start: start, end: end)
    }

    package func isQuiet(at now: EpochMilliseconds, _ clock: WallClock) -> Bool {
        quietHours?.contains(minute: clock.minuteOfDay(now)) ?? false
    }

    /// The moment at which it is quiet no more; `nil` = it is not quiet now.
    ///
    /// Takes clock changes before then into account. Ask again at that time: settings and time zone may change.
    package func quietEnd(after now: EpochMilliseconds, _ clock: WallClock) -> EpochMilliseconds? {
        guard let hours = quietHours, hours.contains(minute: clock.minuteOfDay(now)) else { return nil }
        let minute: EpochMilliseconds = 60_000
        let remainder = now % minute
        var moment = now &- (remainder < 0 ? remainder &+ minute : remainder)
        // In one step until two hours before the end, which is more than any daylight-saving change; then minute by
        // minute, so that no change is missed.
        let rest = (hours.end &- clock.minuteOfDay(moment) &+ 1_440) % 1_440
        moment &+= EpochMilliseconds(max(0, rest &- 120)) &* minute
        for _ in 0..<1_440 {
            guard hours.contains(minute: clock.minuteOfDay(moment)) else { break }
            moment &+= minute
        }
        return moment
    }
}
