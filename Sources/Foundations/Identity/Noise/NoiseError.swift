@_exported public import Errors

/// The reason why a Noise handshake or transport message is refused. Never repeats the peer's bytes or a key.
package typealias NoiseError = CodedError<NoiseErrorDomain>

package enum NoiseErrorDomain: ErrorDomain {}

extension NoiseError.Code {
    /// A public key that is not 32 bytes, not canonical, or of low order.
    package static var invalidPoint: Self { Self("invalid_point") }
    /// A message with another length than its pattern has.
    package static var malformed: Self { Self("malformed") }
    /// A message made with other keys, another preshared key or another prologue, or modified on the way.
    package static var forged: Self { Self("forged") }
    /// A nonce that Noise reserves.
    package static var exhausted: Self { Self("exhausted") }
}

extension NoiseError {
    static var forged: NoiseError { NoiseError(.forged, "the message was modified, or was made with other keys") }
}
