@_exported public import Errors

/// The reason why a run of CPace failed. Never repeats the peer's bytes or the code.
package typealias CPaceError = CodedError<CPaceErrorDomain>

package enum CPaceErrorDomain: ErrorDomain {}

extension CPaceError.Code {
    /// A session id that is not 16 bytes in base64url.
    package static var invalidSession: Self { Self("invalid_session") }
    /// A share that isn't a point, is the neutral element, or is our own share. The draft: "MUST abort".
    package static var invalidShare: Self { Self("invalid_share") }
    /// Both sides would be the same peer.
    package static var samePeer: Self { Self("same_peer") }
    /// Unusable randomness from the caller.
    package static var noRandomness: Self { Self("no_randomness") }
}
