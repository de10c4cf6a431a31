/// The reason why a relay could not be started.
package struct RelayError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure; more may be added. Codes of Transport are passed on under their own names.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        package let name: String

        package init(_ name: String) { self.name = name }

        package var description: String { name }

        /// An option that does not exist; the message names it.
        package static let unknownOption = Code("unknown_option")
        /// An option of the wrong type or out of its range; the message names it and the expected values.
        package static let invalidOption = Code("invalid_option")
        /// Another program listens on the address already.
        package static let addressInUse = Code("address_in_use")
        /// No file descriptor is left.
        package static let outOfFiles = Code("out_of_files")
        /// The certificate or the key file.
        package static let tlsFailed = Code("tls_failed")
    }

    package let code: Code
    /// For people, in English: what happened and what to do.
    package let message: String
    package let cause: (any Error)?

    package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    package var description: String { message }
}
