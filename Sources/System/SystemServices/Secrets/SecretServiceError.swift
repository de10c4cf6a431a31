@_exported public import Errors

/// The reason why a secret could not be stored, found or deleted.
package typealias SecretServiceError = CodedError<SecretServiceErrorDomain>

package enum SecretServiceErrorDomain: ErrorDomain {}

extension SecretServiceError.Code {
    /// There is no Secret Service, no default keyring in it, no session bus or no libsystemd.
    package static var unavailable: Self { Self("unavailable") }
    /// The keyring is locked, and only its user can unlock it.
    package static var locked: Self { Self("locked") }
    /// The service did not answer in time.
    package static var timeout: Self { Self("timeout") }
    /// The service answered with an error.
    package static var refused: Self { Self("refused") }
    /// The service's answer can't be read.
    package static var malformed: Self { Self("malformed") }
    /// A secret or an attribute that is too long, or a call on a thread that must not wait.
    package static var invalid: Self { Self("invalid") }
}

extension SecretServiceError {
    static var locked: SecretServiceError {
        SecretServiceError(
            .locked,
            "the keyring of this session is locked; unlock it in the desktop's keyring program, then try again, or keep "
                + "keys in files")
    }

    static var noKeyring: SecretServiceError {
        SecretServiceError(
            .unavailable,
            "the Secret Service has no default keyring; create one in the desktop's keyring program, or keep keys in "
                + "files")
    }

    /// What a call's failure means here.
    init(_ error: BusError) {
        switch error.code {
        case .unavailable, .noAddress, .disconnected, .absent, .closed:
            self.init(.unavailable, "no Secret Service: \(error.message)")
        case .timeout: self.init(.timeout, "the Secret Service did not answer in time: \(error.message)")
        case .malformed, .tooLarge: self.init(.malformed, "cannot read the answer of the Secret Service")
        case .refused where error.remoteName == "org.freedesktop.Secret.Error.IsLocked": self = .locked
        case .refused where error.remoteName?.hasPrefix("org.freedesktop.DBus.Error.Spawn.") == true:
            self.init(.unavailable, "no Secret Service: it could not be started")
        case .refused: self.init(.refused, "the Secret Service refused: \(error.message)")
        default: self.init(.invalid, error.message)
        }
    }
}
