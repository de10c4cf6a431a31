/// The reason why a relay for others can't start, or can't apply a changed setting.
package struct ServiceError: Error, Sendable, Equatable, CustomStringConvertible {
    package struct Code: Sendable, Hashable {
        package let name: String

        package init(_ name: String) { self.name = name }

        /// An option; the message names it.
        package static let invalidOption = Code("invalid_option")
        /// A file that cannot be read.
        package static let unreadableFile = Code("unreadable_file")
        /// A file with a line that is not what it should be; the message names the line.
        package static let invalidFile = Code("invalid_file")
        /// The address, the certificate, the state directory or the database.
        package static let notStarted = Code("not_started")
        /// Another process has the state directory.
        package static let busy = Code("busy")
    }

    package let code: Code
    /// For people, in English: what is wrong and what to do.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
