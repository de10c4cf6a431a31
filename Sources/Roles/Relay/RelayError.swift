@_exported public import Errors

/// The reason why a relay could not be started.
package typealias RelayError = CodedError<RelayErrorDomain>

package enum RelayErrorDomain: ErrorDomain {}

extension RelayError.Code {
    /// An option that does not exist; the message names it.
    package static var unknownOption: Self { Self("unknown_option") }
    /// An option of the wrong type or out of its range; the message names it and the expected values.
    package static var invalidOption: Self { Self("invalid_option") }
    /// Another program listens on the address already.
    package static var addressInUse: Self { Self("address_in_use") }
    /// No file descriptor is left.
    package static var outOfFiles: Self { Self("out_of_files") }
    /// The certificate or the key file.
    package static var tlsFailed: Self { Self("tls_failed") }
}
