package import JSON
package import Notifications

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
        methods: Dictionary(uniqueKeysWithValues: NotificationMethod.allCases.map { ($0.name, $0.row.risk) }))

    /// For the host: `{"name","risk","enabled","methods":{name: risk}}`.
    package func json(isEnabled: Bool) -> JSONObject {
        var risks: JSONObject = [:]
        for method in methods.keys.sorted() { risks[method] = methods[method].map { .string($0.name) } }
        return [
            "name": .string(name), "risk": .string(risk.name), "enabled": .bool(isEnabled), "methods": .object(risks),
        ]
    }
}
