@_exported public import Errors

/// The reason why a payload could not be sealed or opened. Never repeats its content.
package typealias SealError = CodedError<SealErrorDomain>

package enum SealErrorDomain: ErrorDomain {}

extension SealError.Code {
    /// Not sealed by the sender that the relay names, or modified on the way. Counted.
    package static var forged: Self { Self("forged") }
    /// A repeat, or too old to tell. Counted.
    package static var replayed: Self { Self("replayed") }
    /// Sealed by or to a peer other than the relay says: a redirected or reflected frame. Counted.
    package static var misaddressed: Self { Self("misaddressed") }
    /// Not a sealed frame. Counted.
    package static var malformed: Self { Self("malformed") }
    /// An id that isn't a key, or a weak one; nothing can be sealed to it.
    package static var noKey: Self { Self("no_key") }
    /// The plaintext doesn't fit into a frame.
    package static var tooLarge: Self { Self("too_large") }
    /// This process life has used up its nonces.
    package static var exhausted: Self { Self("exhausted") }
}
