import CSodium

/// Names for content.
package enum ContentHash {
    /// 16 bytes of BLAKE2b: two names that differ never have the same one, not even on purpose.
    package static func short(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 16)
        crypto_generichash(&digest, digest.count, bytes, UInt64(bytes.count), nil, 0)
        return digest
    }

    /// SHA-256, in lower-case hexadecimal digits.
    package static func hex(_ parts: [[UInt8]]) -> String {
        var state = crypto_hash_sha256_state()
        crypto_hash_sha256_init(&state)
        for part in parts {
            // With its length, so that no two lists of parts are the same text.
            withUnsafeBytes(of: UInt64(part.count).littleEndian) { count in
                _ = crypto_hash_sha256_update(
                    &state, count.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(count.count))
            }
            crypto_hash_sha256_update(&state, part, UInt64(part.count))
        }
        var digest = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
        crypto_hash_sha256_final(&state, &digest)
        return TextEncoding.hex.encode(digest)
    }
}
