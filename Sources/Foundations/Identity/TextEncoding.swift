import CSodium

/// Bytes as text and back, by libsodium: in a time that does not depend on the bytes, so fit for secrets.
///
/// Decoding is strict: no spaces, no missing or surplus padding, no bits left over.
package enum TextEncoding: Sendable {
    /// RFC 4648, padded.
    case base64
    /// RFC 4648 section 5, not padded: the base64url of Wire, "Frames".
    case base64url
    /// Lower case when written, either case when read.
    case hex

    package func encode(_ bytes: [UInt8]) -> String {
        let capacity: Int
        switch self {
        case .base64, .base64url: capacity = sodium_base64_encoded_len(bytes.count, variant)
        case .hex: capacity = bytes.count * 2 + 1
        }
        return String(unsafeUninitializedCapacity: capacity) { buffer in
            buffer.withMemoryRebound(to: CChar.self) { text in
                guard let base = text.baseAddress else { return 0 }
                switch self {
                case .base64, .base64url: sodium_bin2base64(base, text.count, bytes, bytes.count, variant)
                case .hex: sodium_bin2hex(base, text.count, bytes, bytes.count)
                }
                return capacity - 1  // the NUL is not part of the text
            }
        }
    }

    /// `nil` if the text is not exactly of this encoding.
    package func decode(_ text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { utf8 in
            // libsodium 1.0.18 takes what is not ASCII for a character of its alphabet.
            if utf8.contains(where: { $0 >= 0x80 }) { return nil }
            return utf8.withMemoryRebound(to: CChar.self) { characters -> [UInt8]? in
                guard let base = characters.baseAddress, !characters.isEmpty else { return [] }
                var status: CInt = -1
                let bytes = [UInt8](unsafeUninitializedCapacity: characters.count) { buffer, initialized in
                    guard let target = buffer.baseAddress else { return }
                    let count = characters.count
                    // Without a place for the end, libsodium takes nothing less than the whole text.
                    switch self {
                    case .base64, .base64url:
                        status = sodium_base642bin(
                            target, count, base, count, nil, &initialized, nil, variant)
                    case .hex:
                        status = sodium_hex2bin(target, count, base, count, nil, &initialized, nil)
                    }
                    if status != 0 { initialized = 0 }
                }
                return status == 0 ? bytes : nil
            }
        }
    }

    private var variant: CInt {
        switch self {
        case .base64: CInt(sodium_base64_VARIANT_ORIGINAL)
        case .base64url: CInt(sodium_base64_VARIANT_URLSAFE_NO_PADDING)
        case .hex: 0
        }
    }
}
