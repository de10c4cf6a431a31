import CSodium

/// An Ed25519 key pair: who this device or desktop is.
///
/// The secret half lies in memory of libsodium's that is locked, guarded, read-only, and wiped in the end. It is never
/// copied out but to the key file.
package final class SigningKey: Sendable {
    static let secretByteCount = 64

    package let publicKey: PublicKey
    /// 64 bytes: the seed and the public key, as libsodium has it. Never written after `init`.
    nonisolated(unsafe) let secret: UnsafeMutableRawPointer

    /// The `did:key` of the public half.
    package var did: String { publicKey.did }

    /// A new key.
    package static func generate() throws(IdentityError) -> SigningKey {
        try SigningKey { secret, publicKey in crypto_sign_ed25519_keypair(publicKey, secret) == 0 }
    }

    /// The key of a 32-byte seed. The caller wipes the seed.
    package convenience init(seed: [UInt8]) throws(IdentityError) {
        guard seed.count == 32 else { throw IdentityError(.keyFileDamaged, "a key seed must have 32 bytes") }
        try self.init { secret, publicKey in crypto_sign_ed25519_seed_keypair(publicKey, secret, seed) == 0 }
    }

    /// `fill` writes both halves, and says whether they are a pair.
    init(filling fill: (UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<UInt8>) -> Bool) throws(IdentityError) {
        try Identity.start()
        guard let secret = sodium_malloc(Self.secretByteCount) else {
            throw IdentityError(.unavailable, "cannot allocate protected memory for a key")
        }
        var publicBytes = [UInt8](repeating: 0, count: PublicKey.byteCount)
        let isFilled = publicBytes.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return false }
            return fill(secret.assumingMemoryBound(to: UInt8.self), base)
        }
        guard isFilled, let publicKey = PublicKey(bytes: publicBytes) else {
            sodium_free(secret)
            throw IdentityError(.keyFileDamaged, "not a valid Ed25519 key")
        }
        sodium_mprotect_readonly(secret)
        self.secret = secret
        self.publicKey = publicKey
    }

    deinit { sodium_free(secret) }  // wipes

    /// The 64 bytes of the signature.
    package func sign(_ message: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: PublicKey.signatureByteCount) { buffer, initialized in
            guard let signature = buffer.baseAddress else { return }
            crypto_sign_ed25519_detached(
                signature, nil, message, UInt64(message.count), secret.assumingMemoryBound(to: UInt8.self))
            initialized = PublicKey.signatureByteCount
        }
    }

    package func sign(_ text: String) -> [UInt8] { sign(Array(text.utf8)) }
}
