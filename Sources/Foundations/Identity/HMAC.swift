import CSodium

/// HMAC-SHA256, for keys of any length.
enum HMAC {
    static let byteCount = 32

    static func sha256(key: SecretBytes, over text: String) -> [UInt8] {
        var text = text
        return text.withUTF8 { message in
            [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, initialized in
                guard let target = buffer.baseAddress else { return }
                var state = crypto_auth_hmacsha256_state()
                defer { sodium_memzero(&state, MemoryLayout<crypto_auth_hmacsha256_state>.size) }
                _ = key.withBytes { crypto_auth_hmacsha256_init(&state, $0, key.count) }
                crypto_auth_hmacsha256_update(&state, message.baseAddress, UInt64(message.count))
                crypto_auth_hmacsha256_final(&state, target)
                initialized = byteCount
            }
        }
    }
}
