package import Wire

/// The reason why a command has no result.
package struct CommandError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure; more may be added.
    package struct Code: Sendable, Hashable {
        package let name: String

        package init(_ name: String) { self.name = name }

        /// The desktop is not there.
        package static let offline = Code("offline")
        /// No answer in time. A deployed desktop may still carry the command out.
        package static let timeout = Code("timeout")
        package static let cancelled = Code("cancelled")
        /// Our side was closed while the command waited.
        package static let closed = Code("closed")
        /// More commands wait for their answers than are allowed.
        package static let tooMany = Code("too_many")
        /// Two commands with one id.
        package static let duplicateID = Code("duplicate_id")
        /// The desktop does not let this device do it.
        package static let denied = Code("denied")
        /// The desktop does not know the command.
        package static let unsupported = Code("unsupported")
        /// The desktop refused; its code and text are kept.
        package static let remote = Code("remote")
        /// The answer cannot be read.
        package static let undecodable = Code("undecodable")
    }

    package let code: Code
    /// For people, in English.
    package let message: String
    /// The peer's own words, when it was the peer that refused.
    package let remote: RemoteError?
    /// The desktop has no notification commands over signalling (WireDeployedPeers, "The desktop app"). Remembered
    /// until the next connection.
    package let lacksSkill: Bool

    package init(_ code: Code, _ message: String, remote: RemoteError? = nil, lacksSkill: Bool = false) {
        self.code = code
        self.message = message
        self.remote = remote
        self.lacksSkill = lacksSkill
    }

    package var description: String { "\(message) (\(code.name))" }
}
