/// The reason why a bus operation failed.
package struct BusError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure; more may be added.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        package let name: String

        package init(_ name: String) { self.name = name }

        package var description: String { name }

        /// There is no libsystemd, so no bus can be spoken to.
        package static let unavailable = Code("unavailable")
        /// The environment names no bus, or none on a local socket.
        package static let noAddress = Code("no_address")
        /// The bus cannot be reached, or has gone away.
        package static let disconnected = Code("disconnected")
        /// The service is not on the bus.
        package static let absent = Code("absent")
        /// No answer came in time.
        package static let timeout = Code("timeout")
        /// The service answered with an error; ``BusError/remoteName`` says which.
        package static let refused = Code("refused")
        /// A message whose values are not those that its interface has.
        package static let malformed = Code("malformed")
        /// A message with more, longer or deeper values than are taken.
        package static let tooLarge = Code("too_large")
        /// More calls are under way than a bus takes.
        package static let tooMany = Code("too_many")
        /// The bus was closed by its owner.
        package static let closed = Code("closed")
        /// A value that cannot be sent: a text with a NUL, a path that is none.
        package static let invalid = Code("invalid")
    }

    package let code: Code
    /// For people, in English. Never a service's own text.
    package let message: String
    /// The D-Bus name of a service's error, such as `org.freedesktop.DBus.Error.AccessDenied`.
    package let remoteName: String?

    package init(_ code: Code, _ message: String, remoteName: String? = nil) {
        self.code = code
        self.message = message
        self.remoteName = remoteName
    }

    package var description: String { message }
}
