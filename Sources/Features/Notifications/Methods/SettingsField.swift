/// One of the settings, by its name on the wire.
package enum SettingsField: String, Sendable, Hashable, CaseIterable {
    case enabled, quietHoursEnabled, quietHoursStart, quietHoursEnd, soundEnabled, vibrationEnabled, showPreview
    /// Only Bellwire peers know these two.
    case retentionRows, retentionDays

    var kind: Parameter.Kind {
        switch self {
        case .enabled, .quietHoursEnabled, .soundEnabled, .vibrationEnabled, .showPreview: .flag
        case .quietHoursStart, .quietHoursEnd: .timeOfDay
        case .retentionRows: .number(0...10_000_000)
        case .retentionDays: .number(0...36_500)
        }
    }

    /// The name within `quietHours`, for those that stand there as well.
    var nestedName: String? {
        switch self {
        case .quietHoursEnabled: "enabled"
        case .quietHoursStart: "start"
        case .quietHoursEnd: "end"
        case .enabled, .soundEnabled, .vibrationEnabled, .showPreview, .retentionRows, .retentionDays: nil
        }
    }
}
