/// The reason why a payload does not match its `type`. It never repeats what came.
package struct MalformedPayload: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of error; more may be added.
    package struct Reason: Sendable, Hashable {
        package let name: String

        package init(_ name: String) { self.name = name }

        package static let notJSON = Reason("not_json")
        package static let notAnObject = Reason("not_an_object")
        package static let missingType = Reason("missing_type")
        package static let missingField = Reason("missing_field")
        package static let wrongType = Reason("wrong_type")
    }

    /// The payload whose shape was expected.
    package enum Kind: String, Sendable, Hashable {
        case payload, request, response, cancel, event, row
        case iceConfig = "ice_config"
    }

    package let reason: Reason
    package let kind: Kind
    /// Our name of the field that is at fault.
    package let field: String?
    /// A request that can still be told so: it had an id.
    package let request: AnswerableRequest?

    package init(_ reason: Reason, in kind: Kind, field: String? = nil, request: AnswerableRequest? = nil) {
        self.reason = reason
        self.kind = kind
        self.field = field
        self.request = request
    }

    package var description: String {
        let place = field.map { ": \($0)" } ?? ""
        return "malformed \(kind.rawValue) (\(reason.name)\(place))"
    }
}

extension MalformedPayload {
    /// The answer to a request that cannot be read, when its id could.
    package var refusal: CommandResponse? {
        guard let request else { return nil }
        return CommandResponse(id: request.id, outcome: .error(RemoteError(.invalidRequest, description)))
    }
}

/// The data that match an answer with its request: the id, and the form that its sender reads.
package struct AnswerableRequest: Sendable, Equatable {
    package let id: RequestID
    package let form: PayloadForm

    package init(id: RequestID, form: PayloadForm) {
        self.id = id
        self.form = form
    }
}
