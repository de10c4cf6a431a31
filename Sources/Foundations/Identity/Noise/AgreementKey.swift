import CSodium

/// An X25519 public key.
///
/// Only canonical points that are not of low order: with any other, everyone could know the shared secret, or one key
/// would have two texts.
package struct AgreementPublicKey: Hashable, Sendable {
    package static let byteCount = Int(crypto_scalarmult_curve25519_BYTES)

    package let bytes: [UInt8]

    /// As a peer sent it. Throws `invalid_point`.
    package init(bytes: [UInt8]) throws(NoiseError) {
        guard bytes.count == Self.byteCount, Self.isCanonical(bytes), !Self.isOfLowOrder(bytes) else {
            throw NoiseError(.invalidPoint, "the X25519 public key is not a valid point")
        }
        self.bytes = bytes
    }

    /// The X25519 form of an identity. Throws `invalid_point` for an identity of small order or outside of the main
    /// subgroup.
    package init(_ identity: PublicKey) throws(NoiseError) {
        var point = [UInt8](repeating: 0, count: Self.byteCount)
        guard crypto_sign_ed25519_pk_to_curve25519(&point, identity.bytes) == 0 else {
            throw NoiseError(.invalidPoint, "the public key is too weak")
        }
        try self.init(bytes: point)
    }

    /// For a key of ours, which is on the curve.
    init(own bytes: [UInt8]) { self.bytes = bytes }

    /// Is the number, little-endian, below 2^255 - 19? RFC 7748 ignores the highest bit; here it must be zero.
    private static func isCanonical(_ bytes: [UInt8]) -> Bool {
        guard let last = bytes.last, last & 0x80 == 0 else { return false }
        guard last == 0x7f, bytes.dropFirst().dropLast().allSatisfy({ $0 == 0xff }) else { return true }
        return bytes[0] < 0xed
    }

    /// The canonical points of order 1, 2, 4 and 8: those that every clamped scalar takes to zero.
    private static func isOfLowOrder(_ bytes: [UInt8]) -> Bool {
        var product = [UInt8](repeating: 0, count: byteCount)
        // Any scalar tells: libsodium clamps it to a multiple of 8, and refuses a product of zero.
        let scalar = [UInt8](repeating: 1, count: byteCount)
        return crypto_scalarmult_curve25519(&product, scalar, bytes) != 0
    }
}

/// An X25519 key pair: the other form of an identity, or the ephemeral key of one handshake.
///
/// The secret half lies in protected memory and is wiped with the last reference.
package final class AgreementKey: Sendable {
    package let publicKey: AgreementPublicKey
    let secret: SecretBytes

    /// The X25519 form of an identity's key.
    package convenience init(_ key: SigningKey) {
        let secret = SecretBytes(count: AgreementPublicKey.byteCount) { target in
            withExtendedLifetime(key) {
                crypto_sign_ed25519_sk_to_curve25519(target, key.secret.assumingMemoryBound(to: UInt8.self)) == 0
            }
        }
        guard let secret else { preconditionFailure("every Ed25519 key has an X25519 form") }
        self.init(secret)
    }

    /// The key of 32 random bytes; `nil` for another length. The caller wipes them.
    package convenience init?(secret bytes: [UInt8]) {
        guard bytes.count == AgreementPublicKey.byteCount, let secret = SecretBytes(bytes) else { return nil }
        self.init(secret)
    }

    /// A new key, for one handshake.
    package static func generate() -> AgreementKey {
        let secret = SecretBytes(count: AgreementPublicKey.byteCount) { target in
            randombytes_buf(target, AgreementPublicKey.byteCount)
            return true
        }
        guard let secret else { preconditionFailure("32 bytes are a secret") }
        return AgreementKey(secret)
    }

    private init(_ secret: SecretBytes) {
        self.secret = secret
        var point = [UInt8](repeating: 0, count: AgreementPublicKey.byteCount)
        _ = secret.withBytes { crypto_scalarmult_curve25519_base(&point, $0) }
        publicKey = AgreementPublicKey(own: point)
    }

    /// Noise's `DH`, into 32 bytes of the caller's. Throws `invalid_point` where the result would be zero.
    func agree(with peer: AgreementPublicKey, into shared: UnsafeMutablePointer<UInt8>) throws(NoiseError) {
        let status = secret.withBytes { crypto_scalarmult_curve25519(shared, $0, peer.bytes) }
        guard status == 0 else { throw NoiseError(.invalidPoint, "the X25519 public key is of low order") }
    }
}

extension AgreementPublicKey {
    /// SHA-256 of its bytes.
    package var digest: [UInt8] { NoiseFunctions.sha256(bytes) }
}

extension AgreementKey {
    /// The 32 secret bytes for the store, wiped after the call.
    package func withSecretBytes<T, E: Error>(_ body: ([UInt8]) throws(E) -> T) throws(E) -> T {
        var copy = secret.withBytes { Array(UnsafeBufferPointer(start: $0, count: secret.count)) }
        defer { Identity.wipe(&copy) }
        return try body(copy)
    }
}
