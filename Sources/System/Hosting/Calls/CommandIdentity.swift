import Identity

/// The id under which a command is executed, if its role is shared: when the holder ends during the call, the next one
/// executes it, or finds that it was executed.
package struct CommandIdentity: Sendable, Equatable {
    /// What happened to the command before this holder got it.
    package enum Attempt: String, Sendable {
        /// Nothing.
        case first
        /// It was made while nobody held the role. The holder has just taken over, and may have no connection yet.
        case delayed
        /// An earlier holder may have executed it, and ended before it answered.
        case repeated
    }

    /// `nil` = the role makes one.
    package let id: String?
    package let attempt: Attempt

    /// For a call that nobody repeats.
    package static let new = CommandIdentity()

    private init() { (id, attempt) = (nil, .first) }

    private init(id: String, attempt: Attempt) { (self.id, self.attempt) = (id, attempt) }

    /// Errors: `invalid`, unless the id has 1 to 64 bytes.
    package init(checking id: String, _ attempt: Attempt = .first) throws(HostError) {
        guard (1...64).contains(id.utf8.count) else { throw HostError(.invalid, "an id has 1 to 64 bytes") }
        self.init(id: id, attempt: attempt)
    }

    /// With an id of its own.
    package static func unique() -> CommandIdentity { CommandIdentity(id: newID(), attempt: .first) }

    package static func newID() -> String { TextEncoding.hex.encode(Identity.randomBytes(16)) }

    /// For a command that had to wait for a holder.
    package var delayed: CommandIdentity {
        guard let id, attempt == .first else { return self }
        return CommandIdentity(id: id, attempt: .delayed)
    }

    /// For a command whose holder has ended. `nil` = it has no id.
    package var repeated: CommandIdentity? { id.map { CommandIdentity(id: $0, attempt: .repeated) } }
}
