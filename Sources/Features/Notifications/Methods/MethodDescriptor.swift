package import JSON

/// One row of the table of methods: everything that the two sides need to know of a method in one place.
///
/// The rows are in `NotificationMethod.swift`. What a desktop does for a method is in History.
package struct MethodDescriptor: Sendable {
    /// Whether a command may wait for a desktop that is away. Reads are of no use later, and what is sent now is for now.
    package enum Queueing: Sendable, Hashable {
        case never
        /// It waits, until a newer one whose ``InboxEffect`` covers it takes its place.
        case whole
        /// It waits. A field that a newer one sets is taken out of it.
        case byField
    }

    package let risk: Risk
    /// Whether it stores a notification, which is pushed.
    package let isPush: Bool
    package let queueing: Queueing
    /// `nil` = none.
    package let effect: InboxEffect?
    /// In the order in which they are written.
    package let parameters: [Parameter]
    package let result: MethodAnswer
    /// What concerns several parameters: applied to what would go out.
    private let rule: @Sendable (JSONObject) throws(NotificationsError) -> JSONObject

    init(
        risk: Risk, isPush: Bool = false, queueing: Queueing = .never, effect: InboxEffect? = nil,
        parameters: [Parameter] = [],
        rule: @escaping @Sendable (JSONObject) throws(NotificationsError) -> JSONObject = { $0 },
        result: MethodAnswer
    ) {
        self.risk = risk
        self.isPush = isPush
        self.queueing = queueing
        self.effect = effect
        self.parameters = parameters
        self.rule = rule
        self.result = result
    }

    package var canWait: Bool { queueing != .never }

    /// Checks a host's parameters, and writes them so that every desktop understands them (WireDeployedPeers, "What a
    /// device sends"). The error names the field.
    package func wire(from params: JSONObject) throws(NotificationsError) -> JSONObject {
        let reader = try ParameterReader(params, allowing: parameters.map(\.name))
        var wire: JSONObject = [:]
        for parameter in parameters {
            let given = try reader.value(parameter)
            if let value = given ?? parameter.standard { parameter.write(value, to: &wire) }
        }
        return try rule(wire)
    }
}
