package import JSON

/// A call as a guest sends it to its holder.
package struct HostCall: Sendable, Equatable {
    package let name: String
    package let arguments: [JSONValue]
    package var identity = CommandIdentity.new

    package init(_ name: String, _ arguments: [JSONValue]) { (self.name, self.arguments) = (name, arguments) }

    package init(_ name: some RawRepresentable<String>, _ arguments: JSONValue...) {
        self.init(name.rawValue, arguments)
    }
}
