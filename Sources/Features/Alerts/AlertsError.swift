/// An invalid value from a host or user.
package struct AlertsError: Error, Sendable {
    /// What is at fault, by its name in the JSON that was given.
    package let field: String?
    /// For people, in English. Never repeats a value.
    package let message: String

    package init(_ message: String, field: String? = nil) {
        self.message = message
        self.field = field
    }
}
