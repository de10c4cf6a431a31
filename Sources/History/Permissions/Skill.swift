package import JSON
package import Notifications

/// How much harm a method can do.
package enum Risk: Int64, Sendable, Hashable, CaseIterable, Comparable {
    /// Reads alone.
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

/// A group of methods that a desktop has, with the risk of each.
package struct Skill: Sendable, Equatable {
    /// What stands before the dot in its methods' names.
    package let name: String
    /// That of its riskiest method.
    package let risk: Risk
    package let methods: [String: Risk]

    package init(name: String, methods: [String: Risk]) {
        self.name = name
        self.methods = methods
        risk = methods.values.max() ?? .safe
    }

    package static let notification = Skill(
        name: "notification",
        methods: Dictionary(uniqueKeysWithValues: NotificationMethod.allCases.map { ($0.name, $0.risk) }))

    /// For the host: `{"name","risk","enabled","methods":{name: risk}}`.
    package func json(isEnabled: Bool) -> JSONObject {
        var risks: JSONObject = [:]
        for method in methods.keys.sorted() { risks[method] = methods[method].map { .string($0.name) } }
        return [
            "name": .string(name), "risk": .string(risk.name), "enabled": .bool(isEnabled), "methods": .object(risks),
        ]
    }
}

extension NotificationMethod {
    package var risk: Risk {
        switch self {
        case .getHistory, .getUnreadCount, .getSettings: .safe
        case .send, .sendToMobile, .broadcast, .markAsRead, .markAllAsRead, .delete, .clearAll, .updateSettings:
            .mutating
        }
    }
}
