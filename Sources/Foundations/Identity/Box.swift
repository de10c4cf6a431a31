import CSodium

/// The seal between two keys: authenticated encryption that only these two can make or open (WireSealing, "The seal").
///
/// libsodium's `crypto_box_curve25519xchacha20poly1305` with the X25519 forms of the Ed25519 keys. The shared key is
/// computed once and kept in protected memory. It is the same in both directions and never changes: there is no forward
/// secrecy, and a sealed frame could be sent back to its sender, so the plaintext must name sender and receiver.
package final class Box: Sendable {
    package static let nonceByteCount = Int(crypto_box_curve25519xchacha20poly1305_NONCEBYTES)
    /// What a box is longer than its plaintext.
    package static let overhead = Int(crypto_box_curve25519xchacha20poly1305_MACBYTES)

    private let shared: SecretBytes

    /// Throws `weak_key` for a public key whose shared key anybody could know.
    package convenience init(_ key: SigningKey, with peer: PublicKey) throws(IdentityError) {
        try self.init(key, with: peer.bytes)
    }

    init(_ key: SigningKey, with peer: [UInt8]) throws(IdentityError) {
        try Identity.start()
        var point = [UInt8](repeating: 0, count: Int(crypto_box_curve25519xchacha20poly1305_PUBLICKEYBYTES))
        // Refuses points of small order, and those outside of the main subgroup.
        guard peer.count == PublicKey.byteCount, crypto_sign_ed25519_pk_to_curve25519(&point, peer) == 0 else {
            throw IdentityError(.weakKey, "the public key is too weak")
        }
        let scalar = SecretBytes(count: Int(crypto_box_curve25519xchacha20poly1305_SECRETKEYBYTES)) { target in
            withExtendedLifetime(key) {
                crypto_sign_ed25519_sk_to_curve25519(target, key.secret.assumingMemoryBound(to: UInt8.self)) == 0
            }
        }
        let shared = SecretBytes(count: Int(crypto_box_curve25519xchacha20poly1305_BEFORENMBYTES)) { target in
            scalar?.withBytes { crypto_box_curve25519xchacha20poly1305_beforenm(target, point, $0) } == 0
        }
        guard let shared else { throw IdentityError(.weakKey, "the public key is too weak") }
        self.shared = shared
    }

    /// - Parameter nonce: 24 bytes that are used once, so random ones.
    package func seal(_ plaintext: [UInt8], nonce: [UInt8]) -> [UInt8] {
        precondition(nonce.count == Self.nonceByteCount, "a nonce must have 24 bytes")
        let count = plaintext.count + Self.overhead
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            guard let target = buffer.baseAddress else { return }
            _ = shared.withBytes { key in
                crypto_box_curve25519xchacha20poly1305_easy_afternm(
                    target, plaintext, UInt64(plaintext.count), nonce, key)
            }
            initialized = count
        }
    }

    /// The plaintext; `nil` if the box is not this pair's, or was changed, or its nonce was.
    package func open(_ box: [UInt8], nonce: [UInt8]) -> [UInt8]? {
        guard nonce.count == Self.nonceByteCount, box.count >= Self.overhead else { return nil }
        var isOpen = false
        let plaintext = [UInt8](unsafeUninitializedCapacity: max(1, box.count - Self.overhead)) { buffer, initialized in
            guard let target = buffer.baseAddress else { return }
            isOpen = shared.withBytes { key in
                crypto_box_curve25519xchacha20poly1305_open_easy_afternm(
                    target, box, UInt64(box.count), nonce, key) == 0
            }
            initialized = isOpen ? box.count - Self.overhead : 0
        }
        return isOpen ? plaintext : nil
    }
}
