import CSodium

/// Noise's functions for SHA-256 and ChaCha20-Poly1305 (Noise specification revision 34, sections 4, 5.1 and 12).
enum NoiseFunctions {
    static let hashByteCount = Int(crypto_hash_sha256_BYTES)
    static let keyByteCount = Int(crypto_aead_chacha20poly1305_ietf_KEYBYTES)
    static let tagByteCount = Int(crypto_aead_chacha20poly1305_ietf_ABYTES)

    /// `HMAC-HASH`. `output` may be one of the inputs.
    private static func hmac(
        key: UnsafePointer<UInt8>, _ parts: [UnsafeRawBufferPointer], into output: UnsafeMutablePointer<UInt8>
    ) {
        var state = crypto_auth_hmacsha256_state()
        defer { sodium_memzero(&state, MemoryLayout<crypto_auth_hmacsha256_state>.size) }
        crypto_auth_hmacsha256_init(&state, key, hashByteCount)
        for part in parts {
            crypto_auth_hmacsha256_update(
                &state, part.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(part.count))
        }
        crypto_auth_hmacsha256_final(&state, output)
    }

    /// `HKDF` with two or three outputs of 32 bytes, one after the other in `output`.
    ///
    /// - Parameters:
    ///   - chainingKey: 32 bytes, outside of `output`.
    ///   - scratch: 32 bytes of protected memory for the temporary key. They are left as zeros.
    static func hkdf(
        chainingKey: UnsafePointer<UInt8>, material: UnsafeRawBufferPointer, outputs: Int,
        into output: UnsafeMutablePointer<UInt8>, scratch: UnsafeMutablePointer<UInt8>
    ) {
        precondition(outputs == 2 || outputs == 3)
        defer { sodium_memzero(scratch, hashByteCount) }
        hmac(key: chainingKey, [material], into: scratch)
        for index in 0..<outputs {
            withUnsafeBytes(of: UInt8(index + 1)) { number in
                let target = output + index * hashByteCount
                let previous = UnsafeRawBufferPointer(
                    start: index == 0 ? nil : UnsafeRawPointer(target - hashByteCount),
                    count: index == 0 ? 0 : hashByteCount)
                hmac(key: scratch, [previous, number], into: target)
            }
        }
    }

    static func sha256(_ parts: [UInt8]...) -> [UInt8] {
        var state = crypto_hash_sha256_state()
        crypto_hash_sha256_init(&state)
        for part in parts { crypto_hash_sha256_update(&state, part, UInt64(part.count)) }
        var digest = [UInt8](repeating: 0, count: hashByteCount)
        crypto_hash_sha256_final(&state, &digest)
        return digest
    }

    /// `ENCRYPT`: the ciphertext with its tag.
    static func encrypt(key: UnsafePointer<UInt8>, nonce: UInt64, data: [UInt8], plaintext: [UInt8]) -> [UInt8] {
        let count = plaintext.count + tagByteCount
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            guard let target = buffer.baseAddress else { return }
            withNonce(nonce) { nonce in
                _ = crypto_aead_chacha20poly1305_ietf_encrypt(
                    target, nil, plaintext, UInt64(plaintext.count), data, UInt64(data.count), nil, nonce, key)
            }
            initialized = count
        }
    }

    /// `DECRYPT`; `nil` if the tag is wrong.
    static func decrypt(key: UnsafePointer<UInt8>, nonce: UInt64, data: [UInt8], ciphertext: [UInt8]) -> [UInt8]? {
        guard ciphertext.count >= tagByteCount else { return nil }
        let count = ciphertext.count - tagByteCount
        var isAuthentic = false
        let plaintext = [UInt8](unsafeUninitializedCapacity: max(1, count)) { buffer, initialized in
            guard let target = buffer.baseAddress else { return }
            isAuthentic = withNonce(nonce) { nonce in
                crypto_aead_chacha20poly1305_ietf_decrypt(
                    target, nil, nil, ciphertext, UInt64(ciphertext.count), data, UInt64(data.count), nonce, key) == 0
            }
            initialized = isAuthentic ? count : 0
        }
        return isAuthentic ? plaintext : nil
    }

    /// Four zero bytes, then the counter, little-endian.
    private static func withNonce<T>(_ counter: UInt64, _ body: (UnsafePointer<UInt8>) -> T) -> T {
        var nonce: (UInt32, UInt32, UInt32) = (
            0, UInt32(truncatingIfNeeded: counter).littleEndian, UInt32(truncatingIfNeeded: counter >> 32).littleEndian
        )
        return withUnsafeBytes(of: &nonce) { bytes in
            guard let base = bytes.baseAddress else { preconditionFailure("a tuple has an address") }
            return body(base.assumingMemoryBound(to: UInt8.self))
        }
    }
}
