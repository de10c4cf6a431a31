package import JSON

/// The answer to a command.
package struct CommandResponse: Sendable, Equatable {
    package enum Outcome: Sendable, Equatable {
        case result(JSONValue)
        case error(RemoteError)
    }

    package var id: RequestID
    package var outcome: Outcome

    package init(id: RequestID, outcome: Outcome) {
        self.id = id
        self.outcome = outcome
    }

    /// `error` decides, a null beside a result does not; neither is a success without content.
    init(decoding whole: JSONObject) throws(MalformedPayload) {
        let (inner, _) = try EmbeddedObject.read(whole["payload"], in: .response, field: "payload")
        id = RequestID(try TypedMembers(inner, in: .response).requiredID("id"))
        if let error = inner["error"].flatMap(RemoteError.init(decoding:)) {
            outcome = .error(error)
        } else {
            let result = inner["result"] ?? .null
            outcome = .result(result.isNull ? [:] : result)
        }
    }
}

extension CommandResponse {
    /// For whom a response is written: phones differ, and one crashes on the other's form (WireDeployedPeers, "What a
    /// desktop sends").
    package enum Form: Sendable, Hashable {
        /// A deployed phone that wrote its request's payload as text: text, `jsonrpc`, the error an object.
        case mirrorText
        /// A deployed phone that wrote an object: an object, the error a text, never both keys.
        case mirrorObject
        /// A Bellwire device.
        case bellwire

        /// The form that the sender of a request reads.
        package init(_ form: PayloadForm, isBellwire: Bool) {
            switch form {
            case _ where isBellwire: self = .bellwire
            case .text: self = .mirrorText
            case .object: self = .mirrorObject
            }
        }
    }

    /// The payload of a `message`.
    package func payload(as form: Form) -> JSONValue {
        let inner: JSONObject
        switch (form, outcome) {
        case (.mirrorText, .result(let result)), (.bellwire, .result(let result)):
            inner = ["jsonrpc": "2.0", "id": .string(id.text), "result": result]
        case (.mirrorText, .error(let error)), (.bellwire, .error(let error)):
            inner = ["jsonrpc": "2.0", "id": .string(id.text), "error": error.encoded]
        case (.mirrorObject, .result(let result)):
            inner = ["id": .string(id.text), "result": result]
        case (.mirrorObject, .error(let error)):
            inner = ["id": .string(id.text), "error": .string(error.message)]
        }
        let payload = JSONValue.object(inner)
        switch form {
        case .mirrorText: return ["type": .string(PayloadType.response), "payload": .string(payload.serialized())]
        case .mirrorObject, .bellwire: return ["type": .string(PayloadType.response), "payload": payload]
        }
    }
}
