/// A call of ours by another program on the bus. Anybody there may have sent it, with anything in it.
package struct BusRequest: Sendable, Equatable {
    package enum Answer: Sendable, Equatable {
        case values([BusValue])
        /// An error: its D-Bus name, and a text for people.
        case error(String, String)
    }

    static let invalidArguments = "org.freedesktop.DBus.Error.InvalidArgs"
    static let unknownMethod = "org.freedesktop.DBus.Error.UnknownMethod"
    static let notSupported = "org.freedesktop.DBus.Error.NotSupported"

    /// The unique name of the caller, as the bus wrote it.
    package let sender: String
    package let path: String
    /// Empty if the caller passed none.
    package let interface: String
    package let member: String
    package let values: [BusValue]
}
