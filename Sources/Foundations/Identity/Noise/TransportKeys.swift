/// The two keys that a handshake ends with: Noise's transport `CipherState`s, with the nonces given by the caller, so that
/// messages may be lost and reordered (section 11.4).
///
/// In protected memory, wiped with the last reference. A nonce must seal once: the caller counts them.
package final class TransportKeys {
    /// What a ciphertext is longer than its plaintext.
    package static let overhead = NoiseFunctions.tagByteCount

    /// `h` at the end: names this session to both sides, and to nobody else. Public.
    package let handshakeHash: [UInt8]
    private let keys: WipedBytes
    private let sending: Int
    private let receiving: Int

    init(_ state: SymmetricState, isInitiator: Bool) {
        keys = state.split()
        handshakeHash = state.hash
        sending = isInitiator ? 0 : NoiseFunctions.keyByteCount
        receiving = isInitiator ? NoiseFunctions.keyByteCount : 0
    }

    /// Throws `exhausted` for the nonce that Noise reserves.
    package func seal(_ plaintext: [UInt8], nonce: UInt64, data: [UInt8]) throws(NoiseError) -> [UInt8] {
        guard nonce < .max else { throw NoiseError(.exhausted, "the nonce is reserved") }
        return keys.withBytes(at: sending) { key in
            NoiseFunctions.encrypt(key: key, nonce: nonce, data: data, plaintext: plaintext)
        }
    }

    /// `nil` if the other side did not seal just this with this nonce and data.
    package func open(_ ciphertext: [UInt8], nonce: UInt64, data: [UInt8]) -> [UInt8]? {
        guard nonce < .max else { return nil }
        return keys.withBytes(at: receiving) { key in
            NoiseFunctions.decrypt(key: key, nonce: nonce, data: data, ciphertext: ciphertext)
        }
    }
}
