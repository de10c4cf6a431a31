/// The reason why a notification method was not called, or has no result.
package struct NotificationsError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure; more may be added.
    package struct Code: Sendable, Hashable {
        package let name: String

        package init(_ name: String) { self.name = name }

        /// A parameter is missing, of a wrong type, out of its range, or not one of the method's.
        package static let invalidParams = Code("invalid_params")
        /// The desktop's answer is not what the method gives.
        package static let undecodable = Code("undecodable")
    }

    package let code: Code
    /// For people, in English. Never repeats a value.
    package let message: String
    /// The parameter, or the member of the answer, that is at fault.
    package let field: String?

    package init(_ code: Code, _ message: String, field: String? = nil) {
        self.code = code
        self.message = message
        self.field = field
    }

    package var description: String { message }

    package static func parameter(_ field: String, _ message: String) -> NotificationsError {
        NotificationsError(.invalidParams, "\(field): \(message)", field: field)
    }

    static func answer(_ field: String?, _ message: String) -> NotificationsError {
        NotificationsError(.undecodable, "the desktop's answer: \(message)", field: field)
    }
}
