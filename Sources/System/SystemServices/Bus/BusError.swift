@_exported public import Errors

/// The reason why a bus operation failed.
package typealias BusError = CodedError<BusErrorDomain>

package enum BusErrorDomain: ErrorDomain {
    package typealias Facts = String
}

extension BusError.Code {
    /// No libsystemd, so no bus can be used.
    package static var unavailable: Self { Self("unavailable") }
    /// The environment names no bus, or none on a local socket.
    package static var noAddress: Self { Self("no_address") }
    /// The bus cannot be reached, or has gone away.
    package static var disconnected: Self { Self("disconnected") }
    /// The service is not on the bus.
    package static var absent: Self { Self("absent") }
    /// No answer came in time.
    package static var timeout: Self { Self("timeout") }
    /// The service answered with an error; ``BusError/remoteName`` says which.
    package static var refused: Self { Self("refused") }
    /// A message whose values don't match its interface.
    package static var malformed: Self { Self("malformed") }
    /// A message with too many, too long or too deeply nested values.
    package static var tooLarge: Self { Self("too_large") }
    /// Too many calls in progress.
    package static var tooMany: Self { Self("too_many") }
    /// The bus was closed by its owner.
    package static var closed: Self { Self("closed") }
    /// A value that can't be sent: a string with a NUL, an invalid path.
    package static var invalid: Self { Self("invalid") }
}

extension BusError {
    package init(_ code: Code, _ message: String, remoteName: String?) {
        self.init(code, message, facts: remoteName)
    }

    /// The D-Bus name of a service's error, such as `org.freedesktop.DBus.Error.AccessDenied`.
    package var remoteName: String? { facts }
}
