/// An error of one module: a code from an open list, and a message in English.
///
/// The message says what is wrong and what to do. It never repeats a peer's text, a key, a bound value or another secret,
/// so that it may be logged.
package struct CodedError<Domain: ErrorDomain>: Error, Equatable, CustomStringConvertible {
    package let code: Code
    package let message: String
    package let facts: Domain.Facts?

    package init(_ code: Code, _ message: String, facts: Domain.Facts? = nil) {
        self.code = code
        self.message = message
        self.facts = facts
    }

    package var description: String { message }

    /// The kind of error; more may be added.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        package let name: String

        package init(_ name: String) { self.name = name }

        package var description: String { name }
    }
}

/// Keeps the errors of one module apart from those of others.
package protocol ErrorDomain: Sendable {
    /// What an error carries beside its code and message; `Never` if that is all.
    associatedtype Facts: Sendable, Equatable = Never
}
