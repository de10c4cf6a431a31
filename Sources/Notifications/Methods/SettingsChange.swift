package import JSON

/// The parameters of `updateSettings`: any of the settings, and the revision on which they are based.
package struct SettingsChange: Sendable, Equatable {
    /// In the order of ``SettingsField``; never empty, but for a host's range that means never.
    package private(set) var values: [SettingsField: JSONValue] = [:]
    /// The desktop's revision when the user made the change. A field that somebody else has changed since keeps the
    /// desktop's value (`protocol.md` 4.6). `nil` = last come, last served: deployed phones know no revisions.
    package let baseRevision: Int64?

    private static let revision = "revision"

    /// The host's parameters: flat.
    package init(host params: JSONObject) throws(NotificationsError) {
        let reader = try ParameterReader(
            params, allowing: SettingsField.allCases.map(\.rawValue) + [SettingsChange.revision])
        try self.init(reader, nested: nil)
        // With us such a range means never, on a deployed desktop always: the switch says it to both.
        if let start = values[.quietHoursStart], start == values[.quietHoursEnd] {
            values[.quietHoursEnabled] = false
            values[.quietHoursStart] = nil
            values[.quietHoursEnd] = nil
        }
    }

    /// A device's: quiet hours flat or nested, nested wins (`protocol.md` 3, tolerance 6). An unknown field is refused.
    package init(peer params: JSONObject) throws(NotificationsError) {
        let reader = try ParameterReader(
            params, allowing: SettingsField.allCases.map(\.rawValue) + ["quietHours", SettingsChange.revision])
        let nested = try reader.object("quietHours", limit: 4_096)
        try self.init(reader, nested: nested)
    }

    private init(_ reader: ParameterReader, nested: JSONObject?) throws(NotificationsError) {
        baseRevision = try reader.integer(SettingsChange.revision, in: 0...Int64.max)
        let names = SettingsField.allCases.compactMap(\.nestedName)
        let inner = try ParameterReader(nested ?? [:], allowing: names, in: "quietHours.")
        for field in SettingsField.allCases {
            // Both are read before one is chosen: a wrong value is an error in either place.
            let outer = try reader.setting(field.rawValue, field.kind)
            let chosen = try field.nestedName.flatMap { (name) throws(NotificationsError) in
                try inner.setting(name, field.kind)
            }
            values[field] = chosen ?? outer
        }
        guard !values.isEmpty else {
            throw NotificationsError(.invalidParams, "there is no field to update; give at least one of the settings")
        }
    }

    /// Flat and nested: desktops disagree (`protocol.md` 3).
    package var wire: JSONObject {
        var wire: JSONObject = [:]
        var nested: JSONObject = [:]
        for field in SettingsField.allCases {
            wire[field.rawValue] = values[field]
            if let name = field.nestedName { nested[name] = values[field] }
        }
        if !nested.isEmpty { wire["quietHours"] = .object(nested) }
        wire[SettingsChange.revision] = baseRevision.map(JSONValue.integer)
        return wire
    }
}
