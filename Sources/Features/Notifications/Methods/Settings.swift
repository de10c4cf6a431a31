package import JSON

/// A desktop's notification settings.
package struct Settings: Sendable, Equatable {
    package var enabled = true
    package var quietHoursEnabled = false
    /// `HH:mm`, local to the desktop.
    package var quietHoursStart: String?
    package var quietHoursEnd: String?
    package var soundEnabled = true
    package var vibrationEnabled = true
    package var showPreview = true
    /// Of Bellwire desktops alone: what their history keeps at most, 0 = no limit.
    package var retentionRows: Int64?
    package var retentionDays: Int64?

    package init() {}

    /// Flat, or with nested `quietHours:{enabled,start,end}`; nested wins (WireDeployedPeers, "What a device accepts").
    /// An absent field has its default; an answer without any of them isn't settings.
    package init(decoding object: JSONObject) throws(NotificationsError) {
        let flat = AnswerMembers(object)
        let nested = AnswerMembers(object["quietHours"]?.object ?? [:])
        let names = [
            "enabled", "quietHours", "quietHoursEnabled", "quietHoursStart", "quietHoursEnd", "soundEnabled",
            "vibrationEnabled", "showPreview", "retentionRows", "retentionDays",
        ]
        guard names.contains(where: { object[$0] != nil }) else { throw .answer(nil, "has no settings") }
        enabled = try flat.flag("enabled") ?? true
        // Read both before choosing: a wrong type is an error in either place.
        let inner = (enabled: try nested.flag("enabled"), start: try nested.text("start"), end: try nested.text("end"))
        let outer = (
            enabled: try flat.flag("quietHoursEnabled"), start: try flat.text("quietHoursStart"),
            end: try flat.text("quietHoursEnd")
        )
        quietHoursEnabled = inner.enabled ?? outer.enabled ?? false
        quietHoursStart = inner.start ?? outer.start
        quietHoursEnd = inner.end ?? outer.end
        soundEnabled = try flat.flag("soundEnabled") ?? true
        vibrationEnabled = try flat.flag("vibrationEnabled") ?? true
        showPreview = try flat.flag("showPreview") ?? true
        retentionRows = try flat.count("retentionRows")
        retentionDays = try flat.count("retentionDays")
    }

    /// The canonical result of `getSettings`.
    package var json: JSONObject {
        [
            "enabled": .bool(enabled),
            "quietHoursEnabled": .bool(quietHoursEnabled),
            "quietHoursStart": quietHoursStart.map(JSONValue.string),
            "quietHoursEnd": quietHoursEnd.map(JSONValue.string),
            "soundEnabled": .bool(soundEnabled),
            "vibrationEnabled": .bool(vibrationEnabled),
            "showPreview": .bool(showPreview),
            "retentionRows": retentionRows.map(JSONValue.integer),
            "retentionDays": retentionDays.map(JSONValue.integer),
        ]
    }
}
