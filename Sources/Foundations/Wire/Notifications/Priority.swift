/// How much a notification wants to be seen. Absent or unknown is normal.
package enum Priority: Int64, Sendable, Hashable, CaseIterable, Comparable {
    case low = 0
    case normal = 1
    case high = 2
    /// Passes quiet hours.
    case urgent = 3

    package static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }

    /// The text as `priority` has it.
    package var name: String {
        switch self {
        case .low: "low"
        case .normal: "normal"
        case .high: "high"
        case .urgent: "urgent"
        }
    }

    /// The text as deployed desktops read it, under `urgency`.
    package var urgency: String { self == .urgent ? "critical" : name }

    /// Either spelling; `nil` for a text that is none of them.
    package init?(name: String) {
        switch name {
        case "low": self = .low
        case "normal": self = .normal
        case "high": self = .high
        case "urgent", "critical": self = .urgent
        default: return nil
        }
    }
}
