package import JSON

/// How a peer writes the payload of a `message`: deployed phones disagree (protocol.md 3), and an answer mirrors the
/// form of what it answers.
package enum SignallingPayloadForm: String, Sendable {
    /// A JSON object.
    case object
    /// A JSON text that holds the JSON of an object.
    case text
}

extension SignallingFrame.Message {
    /// The form in which the payload came; `nil` if it is neither an object nor a text.
    package var payloadForm: SignallingPayloadForm? {
        switch payload {
        case .object: .object
        case .string: .text
        case .null, .bool, .integer, .double, .array: nil
        }
    }

    /// The payload as an object, read out of the text where it came as text; `nil` if there is none.
    package func payloadObject() -> JSONObject? {
        switch payload {
        case .object(let object): object
        case .string(let text): (try? JSONValue(parsing: text))?.object
        case .null, .bool, .integer, .double, .array: nil
        }
    }
}
