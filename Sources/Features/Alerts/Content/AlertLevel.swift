package import Wire

/// How much an alert may interrupt.
package enum AlertLevel: String, Sendable, CaseIterable {
    /// Into the list, without light or sound.
    case passive
    case active
    /// Passes quiet hours.
    case timeSensitive

    package init(_ priority: Priority) {
        switch priority {
        case .low: self = .passive
        case .normal, .high: self = .active
        case .urgent: self = .timeSensitive
        }
    }
}
