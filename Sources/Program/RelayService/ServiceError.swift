@_exported public import Errors

/// The reason why a relay for others can't start, or can't apply a changed setting.
package typealias ServiceError = CodedError<ServiceErrorDomain>

package enum ServiceErrorDomain: ErrorDomain {}

extension ServiceError.Code {
    /// An option; the message names it.
    package static var invalidOption: Self { Self("invalid_option") }
    /// A file that cannot be read.
    package static var unreadableFile: Self { Self("unreadable_file") }
    /// A file with an invalid line; the message names the line.
    package static var invalidFile: Self { Self("invalid_file") }
    /// The address, the certificate, the state directory or the database.
    package static var notStarted: Self { Self("not_started") }
    /// Another process has the state directory.
    package static var busy: Self { Self("busy") }
}
