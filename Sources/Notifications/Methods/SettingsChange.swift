import JSON

/// The parameters of `updateSettings`: any of the settings.
struct SettingsChange {
    private var flags: JSONObject = [:]
    private var quietHoursEnabled: Bool?
    private var start: String?
    private var end: String?

    private static let flagNames = ["enabled", "soundEnabled", "vibrationEnabled", "showPreview"]

    init(_ params: JSONObject) throws(NotificationsError) {
        let names = SettingsChange.flagNames + ["quietHoursEnabled", "quietHoursStart", "quietHoursEnd"]
        let reader = try ParameterReader(params, allowing: names)
        for name in SettingsChange.flagNames { flags[name] = try reader.flag(name).map(JSONValue.bool) }
        quietHoursEnabled = try reader.flag("quietHoursEnabled")
        start = try reader.timeOfDay("quietHoursStart")
        end = try reader.timeOfDay("quietHoursEnd")
        guard !flags.isEmpty || quietHoursEnabled != nil || start != nil || end != nil else {
            throw NotificationsError(.invalidParams, "there is no field to update; give at least one of the settings")
        }
        // With us such a range means never, on a deployed desktop always: the switch says it to both.
        if let start, start == end {
            quietHoursEnabled = false
            self.start = nil
            end = nil
        }
    }

    /// Flat and nested: desktops disagree (`protocol.md` 3).
    var wire: JSONObject {
        var wire = flags
        let nested: JSONObject = [
            "enabled": quietHoursEnabled.map(JSONValue.bool),
            "start": start.map(JSONValue.string),
            "end": end.map(JSONValue.string),
        ]
        for (flat, name) in [("quietHoursEnabled", "enabled"), ("quietHoursStart", "start"), ("quietHoursEnd", "end")] {
            wire[flat] = nested[name]
        }
        if !nested.isEmpty { wire["quietHours"] = .object(nested) }
        return wire
    }
}
