/// The reason why a text from a relay is not a frame. The text itself is never repeated.
package struct SignallingFrameError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of error; more may be added.
    package struct Code: Sendable, Hashable {
        package let name: String

        package init(_ name: String) { self.name = name }

        /// The text is not one JSON value.
        package static let notJSON = Code("not_json")
        /// The JSON is no object, or has no `type`.
        package static let noType = Code("no_type")
        /// A frame of a known type without a field that it means nothing without.
        package static let missingField = Code("missing_field")
    }

    package let code: Code
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
