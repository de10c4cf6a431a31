package import Calendar
package import JSON
import Notifications
package import Wire

/// The desktop's own settings: the truth that its devices see and change.
///
/// A device's settings for itself are another thing, and never mixed with these.
package struct DesktopSettings: Sendable, Equatable {
    /// False: everything is kept and pushed for the history alone, and shown nowhere.
    package var enabled = true
    package var quietHoursEnabled = false
    /// `HH:mm`, local to the desktop. A range may cross midnight; with start = end it is never quiet.
    package var quietHoursStart = "22:00"
    package var quietHoursEnd = "08:00"
    package var soundEnabled = true
    package var vibrationEnabled = true
    package var showPreview = true
    /// The history keeps at most so many rows; 0 = no limit.
    package var retentionRows: Int64 = 10_000
    /// The history keeps rows for so many days; 0 = for ever.
    package var retentionDays: Int64 = 90

    package init() {}

    /// Whether a push is for the history alone.
    ///
    /// - Parameter respectsQuietHours: false = its sender wants it seen at any hour.
    package func silences(
        _ priority: Priority, respectsQuietHours: Bool, at now: EpochMilliseconds, _ clock: WallClock
    ) -> Bool {
        guard enabled else { return true }
        guard respectsQuietHours, priority != .urgent else { return false }
        return isQuiet(at: now, clock)
    }

    package func isQuiet(at now: EpochMilliseconds, _ clock: WallClock) -> Bool {
        guard quietHoursEnabled, let start = TimeOfDay.minute(of: quietHoursStart),
            let end = TimeOfDay.minute(of: quietHoursEnd)
        else { return false }
        return QuietHours(start: start, end: end).contains(minute: clock.minuteOfDay(now))
    }

    /// As `getSettings` and `settings.changed` give them: quiet hours flat and nested, because readers differ
    /// (WireDeployedPeers, "What a desktop sends").
    package var json: JSONObject {
        var json: JSONObject = [:]
        for field in SettingsField.allCases { json[field.rawValue] = self[field] }
        json["quietHours"] = [
            "enabled": .bool(quietHoursEnabled), "start": .string(quietHoursStart), "end": .string(quietHoursEnd),
        ]
        return json
    }

    subscript(field: SettingsField) -> JSONValue {
        switch field {
        case .enabled: .bool(enabled)
        case .quietHoursEnabled: .bool(quietHoursEnabled)
        case .quietHoursStart: .string(quietHoursStart)
        case .quietHoursEnd: .string(quietHoursEnd)
        case .soundEnabled: .bool(soundEnabled)
        case .vibrationEnabled: .bool(vibrationEnabled)
        case .showPreview: .bool(showPreview)
        case .retentionRows: .integer(retentionRows)
        case .retentionDays: .integer(retentionDays)
        }
    }

    /// Sets what was checked before; a value of another type, which only a damaged file can hold, leaves the default.
    mutating func set(_ field: SettingsField, _ value: JSONValue) {
        switch field {
        case .enabled: enabled = value.bool ?? enabled
        case .quietHoursEnabled: quietHoursEnabled = value.bool ?? quietHoursEnabled
        case .quietHoursStart: quietHoursStart = value.string ?? quietHoursStart
        case .quietHoursEnd: quietHoursEnd = value.string ?? quietHoursEnd
        case .soundEnabled: soundEnabled = value.bool ?? soundEnabled
        case .vibrationEnabled: vibrationEnabled = value.bool ?? vibrationEnabled
        case .showPreview: showPreview = value.bool ?? showPreview
        case .retentionRows: retentionRows = value.integer ?? retentionRows
        case .retentionDays: retentionDays = value.integer ?? retentionDays
        }
    }
}
