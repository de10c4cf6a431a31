/// The reason why a Noise handshake or transport message is refused. It never repeats what came, nor a key.
package struct NoiseError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of error; more may be added.
    package struct Code: Sendable, Hashable {
        package let name: String

        package init(_ name: String) { self.name = name }

        /// A public key that is not 32 bytes, not canonical, or of low order.
        package static let invalidPoint = Code("invalid_point")
        /// A message with another length than its pattern has.
        package static let malformed = Code("malformed")
        /// A message that this pair of peers, with this preshared key and prologue, did not make.
        package static let forged = Code("forged")
        /// A nonce that Noise reserves.
        package static let exhausted = Code("exhausted")
    }

    package let code: Code
    /// For people, in English.
    package let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }

    static let forged = NoiseError(.forged, "the message was modified, or was made with other keys")
}
