/// The reason why a secret could not be stored, found or deleted.
package struct SecretServiceError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure; more may be added.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        package let name: String

        package init(_ name: String) { self.name = name }

        package var description: String { name }

        /// There is no Secret Service, no default keyring in it, no session bus or no libsystemd.
        package static let unavailable = Code("unavailable")
        /// The keyring is locked, and only its user can unlock it.
        package static let locked = Code("locked")
        /// The service did not answer in time.
        package static let timeout = Code("timeout")
        /// The service answered with an error.
        package static let refused = Code("refused")
        /// The service's answer is none.
        package static let malformed = Code("malformed")
        /// A secret or an attribute that is too long, or a call on a thread that must not wait.
        package static let invalid = Code("invalid")
    }

    package let code: Code
    /// For people, in English: what happened and what to do.
    package let message: String
    package let cause: BusError?

    package init(_ code: Code, _ message: String, cause: BusError? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    package var description: String { message }

    static let locked = SecretServiceError(
        .locked,
        "the keyring of this session is locked; unlock it in the desktop's keyring program, then try again, or keep keys "
            + "in files")

    static let noKeyring = SecretServiceError(
        .unavailable,
        "the Secret Service has no default keyring; create one in the desktop's keyring program, or keep keys in files")

    /// What a call's failure means here.
    init(_ error: BusError) {
        switch error.code {
        case .unavailable, .noAddress, .disconnected, .absent, .closed:
            self.init(.unavailable, "no Secret Service: \(error.message)", cause: error)
        case .timeout:
            self.init(.timeout, "the Secret Service did not answer in time: \(error.message)", cause: error)
        case .malformed, .tooLarge:
            self.init(.malformed, "cannot read the answer of the Secret Service", cause: error)
        case .refused where error.remoteName == "org.freedesktop.Secret.Error.IsLocked": self = .locked
        case .refused where error.remoteName?.hasPrefix("org.freedesktop.DBus.Error.Spawn.") == true:
            self.init(.unavailable, "no Secret Service: it could not be started", cause: error)
        case .refused: self.init(.refused, "the Secret Service refused: \(error.message)", cause: error)
        default: self.init(.invalid, error.message, cause: error)
        }
    }
}
