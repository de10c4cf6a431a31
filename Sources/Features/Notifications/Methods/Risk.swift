/// How much harm a method can do.
package enum Risk: Int64, Sendable, Hashable, CaseIterable, Comparable {
    /// Only reads.
    case safe = 1
    /// Changes what can be changed back, or shows something.
    case mutating = 2
    /// Reaches beyond the skill's own data.
    case privileged = 3

    package static func < (left: Risk, right: Risk) -> Bool { left.rawValue < right.rawValue }

    package var name: String {
        switch self {
        case .safe: "safe"
        case .mutating: "mutating"
        case .privileged: "privileged"
        }
    }

    package init?(name: String) {
        guard let risk = Risk.allCases.first(where: { $0.name == name }) else { return nil }
        self = risk
    }
}
