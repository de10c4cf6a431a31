import JSON

extension SignallingFrame.Message {
    /// The form in which the payload came; `nil` if it is neither an object nor a text.
    package var payloadForm: PayloadForm? {
        switch payload {
        case .object: .object
        case .string: .text
        case .null, .bool, .integer, .double, .array: nil
        }
    }
}
