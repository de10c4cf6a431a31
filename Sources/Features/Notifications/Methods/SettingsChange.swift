package import JSON

/// The parameters of `updateSettings` as a desktop reads them: any of the settings, and the revision on which they are based.
package struct SettingsChange: Sendable, Equatable {
    /// Empty only if nothing is known of what a deployed phone has sent.
    package private(set) var values: [SettingsField: JSONValue] = [:]
    /// The desktop's revision when the user made the change. A field that changed since then keeps the desktop's value
    /// (WireMessages, "State changes"). `nil` = the last change wins: deployed phones know no revisions.
    package let baseRevision: Int64?

    private static let revision = "revision"
    private static let nested = "quietHours"

    /// A host's parameters: flat.
    static let parameters = SettingsField.allCases.map { Parameter($0.rawValue, $0.kind) } + [base]
    private static let base = Parameter(revision, .number(0...Int64.max))

    /// A device's: quiet hours flat or nested, nested wins (WireDeployedPeers, "What a device sends").
    ///
    /// - Parameter ignoresUnknown: of a deployed phone (WireDeployedPeers, "What a desktop accepts"). A Bellwire device's
    ///   unknown field is refused, because its change would be lost.
    package init(peer params: JSONObject, ignoresUnknown: Bool = false) throws(NotificationsError) {
        let known = SettingsField.allCases.map(\.rawValue) + [SettingsChange.nested, SettingsChange.revision]
        let reader = try ParameterReader(params, allowing: ignoresUnknown ? nil : known)
        let nested = try reader.value(Parameter(SettingsChange.nested, .object(limit: 4_096)))?.object
        baseRevision = try reader.value(SettingsChange.base)?.integer
        let names = SettingsField.allCases.compactMap(\.nestedName)
        let inner = try ParameterReader(nested ?? [:], allowing: ignoresUnknown ? nil : names, in: "quietHours.")
        for field in SettingsField.allCases {
            // Both are read before one is chosen: a wrong value is an error in either place.
            let outer = try reader.value(Parameter(field.rawValue, field.kind))
            let chosen = try field.nestedName.flatMap { (name) throws(NotificationsError) in
                try inner.value(Parameter(name, field.kind))
            }
            values[field] = chosen ?? outer
        }
        let isAny = params.members.contains { $0.key != SettingsChange.revision && !$0.value.isNull }
        guard !values.isEmpty || ignoresUnknown && isAny else { throw SettingsChange.isEmpty }
    }

    /// At least one field, flat and nested: desktops differ (WireDeployedPeers, "What a device sends").
    static func rule(_ given: JSONObject) throws(NotificationsError) -> JSONObject {
        guard SettingsField.allCases.contains(where: { given[$0.rawValue] != nil }) else { throw isEmpty }
        var given = given
        // On a Bellwire desktop such a range means never, on a ChainlessChain desktop always. The switch means the same
        // on both.
        if let start = given[SettingsField.quietHoursStart.rawValue],
            start == given[SettingsField.quietHoursEnd.rawValue]
        {
            given[SettingsField.quietHoursEnabled.rawValue] = false
            given[SettingsField.quietHoursStart.rawValue] = nil
            given[SettingsField.quietHoursEnd.rawValue] = nil
        }
        var wire: JSONObject = [:]
        var inner: JSONObject = [:]
        for field in SettingsField.allCases {
            wire[field.rawValue] = given[field.rawValue]
            if let name = field.nestedName { inner[name] = given[field.rawValue] }
        }
        if !inner.isEmpty { wire[nested] = .object(inner) }
        wire[revision] = given[revision]
        return wire
    }

    /// What is left of a change after another, of which a field that is set again need not be set before; `nil` =
    /// nothing. Both as they go on the wire.
    package static func rest(of older: JSONObject, after newer: JSONObject) -> JSONObject? {
        var rest = older
        var inner = older[nested]?.object ?? [:]
        for field in newer.keys where field != revision && field != nested {
            rest[field] = nil
            if let name = SettingsField(rawValue: field)?.nestedName { inner[name] = nil }
        }
        rest[nested] = inner.isEmpty ? nil : .object(inner)
        return rest.keys.contains { $0 != revision } ? rest : nil
    }

    private static let isEmpty = NotificationsError(
        .invalidParams, "no settings given; pass at least one")
}
