/// A call of the C interface with checked parameters.
///
/// Inside a process it is this value. Between processes it is a ``HostCall``: what another program sends is decoded by
/// the initializers that check a host's parameters.
package protocol CallCoding: Sendable {
    /// `nil` = there is no call of that name.
    ///
    /// Errors: `undecodable` for an argument of the wrong type, `invalid` for a parameter that a host may not pass.
    init?(decoding name: String, _ arguments: inout CallArguments) throws(HostError)

    var encoded: HostCall { get }
    var traits: CallTraits { get }
}

extension CallCoding {
    /// Errors: also `unsupported` for a call that this version doesn't know.
    package init(_ call: HostCall) throws(HostError) {
        var arguments = CallArguments(call)
        guard let decoded = try Self(decoding: call.name, &arguments) else {
            throw HostError(.unsupported, "unknown call \(call.name)")
        }
        self = decoded
    }
}

/// What a call means for the programs that share its role.
package struct CallTraits: Sendable {
    package enum Kind: Sendable {
        /// Starts the role.
        case start
        /// Starts the role, and then does something that must not be repeated.
        case startAndChange
        case stop
        /// Reports the role's state.
        case state
        /// Changes nothing: it can be repeated.
        case read
        /// Must not be repeated: it may have been executed.
        case change
        /// Has a ``CommandIdentity``, under which it is executed once.
        case command
    }

    package let kind: Kind
    package let timeout: CallTimeout?

    package init(_ kind: Kind, _ timeout: CallTimeout? = nil) { (self.kind, self.timeout) = (kind, timeout) }

    package var startsRole: Bool { kind == .start || kind == .startAndChange }
}
