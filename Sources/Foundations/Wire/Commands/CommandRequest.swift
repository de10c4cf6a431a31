package import JSON

/// A command of a device to a desktop.
package struct CommandRequest: Sendable, Equatable {
    package var id: RequestID
    package var method: String
    package var params: JSONObject
    /// Who sends it: `{mobileDid,did,timestamp,nonce,signature}`, or less (WireMessages, "Authentication").
    package var auth: JSONObject?
    /// After this moment a Bellwire desktop refuses the command (WireMessages, "Repeated and late commands").
    package var expiresAt: EpochMilliseconds?
    /// How the request came, so that the answer can come alike.
    package var form: PayloadForm

    package init(
        id: RequestID, method: String, params: JSONObject = [:], auth: JSONObject? = nil,
        expiresAt: EpochMilliseconds? = nil, form: PayloadForm = .object
    ) {
        self.id = id
        self.method = method
        self.params = params
        self.auth = auth
        self.expiresAt = expiresAt
        self.form = form
    }

    /// What an answer to it needs.
    package var answerable: AnswerableRequest { AnswerableRequest(id: id, form: form) }

    /// The payload of a `message`.
    package var payload: JSONValue {
        [
            "type": .string(PayloadType.request),
            "payload": [
                "id": .string(id.text),
                "method": .string(method),
                "params": .object(params),
                "auth": auth.map(JSONValue.object),
                "expiresAt": expiresAt.map(JSONValue.integer),
            ],
        ]
    }

    init(decoding whole: JSONObject) throws(MalformedPayload) {
        let (inner, form) = try EmbeddedObject.read(whole["payload"], in: .request, field: "payload")
        let id = RequestID(try TypedMembers(inner, in: .request).requiredID("id"))
        let answerable = AnswerableRequest(id: id, form: form)
        func object(_ field: String) throws(MalformedPayload) -> JSONObject? {
            switch inner[field] ?? .null {
            case .null: return nil
            case .object(let object): return object
            case .bool, .integer, .double, .string, .array:
                throw MalformedPayload(.wrongType, in: .request, field: field, request: answerable)
            }
        }
        guard let method = inner["method"]?.string, !method.isEmpty else {
            throw MalformedPayload(.missingField, in: .request, field: "method", request: answerable)
        }
        self.init(
            id: id, method: method, params: try object("params") ?? [:], auth: try object("auth"),
            expiresAt: inner["expiresAt"]?.integer, form: form)
    }
}
