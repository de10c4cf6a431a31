package import JSON

/// Asks that a command be given up. No answer follows but the command's own.
package struct CommandCancel: Sendable, Equatable {
    package var id: RequestID

    package init(id: RequestID) { self.id = id }

    /// The payload of a `message`.
    package var payload: JSONValue {
        ["type": .string(PayloadType.cancel), "payload": ["id": .string(id.text)]]
    }

    init(decoding whole: JSONObject) throws(MalformedPayload) {
        let (inner, _) = try EmbeddedObject.read(whole["payload"], in: .cancel, field: "payload")
        id = RequestID(try TypedMembers(inner, in: .cancel).requiredID("id"))
    }
}
