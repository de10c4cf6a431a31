import CSodium

// For a place other than a file, such as a keyring.
extension SigningKey {
    /// The key that ``withSecret(_:)`` gave. The caller wipes the bytes. Throws `key_file_damaged` if they are none.
    package convenience init(secret bytes: UnsafeRawBufferPointer) throws(IdentityError) {
        guard bytes.count == Self.secretByteCount, let source = bytes.baseAddress else {
            throw IdentityError(.keyFileDamaged, "a key has \(Self.secretByteCount) bytes; these are \(bytes.count)")
        }
        // The public half is there twice over: in the bytes, and in what the seed makes.
        try self.init { secret, publicKey in
            crypto_sign_ed25519_seed_keypair(publicKey, secret, source.assumingMemoryBound(to: UInt8.self)) == 0
                && sodium_memcmp(secret, source, Self.secretByteCount) == 0
        }
    }

    /// Both halves, 64 bytes, for the time of the call.
    package func withSecret<T, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> T) throws(E) -> T {
        try body(UnsafeRawBufferPointer(start: secret, count: Self.secretByteCount))
    }
}
