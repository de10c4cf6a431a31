/// base64url (RFC 4648 section 5, not padded) of bytes that are no secret, such as what was sealed.
///
/// The same text as ``TextEncoding/base64url``, and as strict, but several times as fast: its time depends on the bytes.
package enum PublicBase64URL {
    private static let alphabet: [UInt8] = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    /// By character; 0xFF = none of the alphabet.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xFF, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    package static func encode(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: (bytes.count * 4 + 2) / 3) { text in
            alphabet.withUnsafeBufferPointer { alphabet in
                bytes.withUnsafeBufferPointer { bytes in encode(bytes, into: text, alphabet) }
            }
        }
    }

    private static func encode(
        _ bytes: UnsafeBufferPointer<UInt8>, into text: UnsafeMutableBufferPointer<UInt8>,
        _ alphabet: UnsafeBufferPointer<UInt8>
    ) -> Int {
        func character(_ bits: UInt32) -> UInt8 { alphabet[Int(bits & 63)] }
        var (from, to) = (0, 0)
        while bytes.count - from >= 3 {
            let bits = UInt32(bytes[from]) << 16 | UInt32(bytes[from + 1]) << 8 | UInt32(bytes[from + 2])
            text[to] = character(bits >> 18)
            text[to + 1] = character(bits >> 12)
            text[to + 2] = character(bits >> 6)
            text[to + 3] = character(bits)
            (from, to) = (from + 3, to + 4)
        }
        let rest = bytes.count - from
        guard rest > 0 else { return to }
        let bits = UInt32(bytes[from]) << 16 | (rest == 2 ? UInt32(bytes[from + 1]) << 8 : 0)
        text[to] = character(bits >> 18)
        text[to + 1] = character(bits >> 12)
        guard rest == 2 else { return to + 2 }
        text[to + 2] = character(bits >> 6)
        return to + 3
    }

    /// `nil` if the text is not exactly of this encoding: no padding, no bits left over.
    package static func decode(_ text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { text -> [UInt8]? in
            // One character alone says nothing.
            guard text.count % 4 != 1 else { return nil }
            var isValid = false
            let bytes = [UInt8](unsafeUninitializedCapacity: text.count * 3 / 4) { bytes, initialized in
                isValid = values.withUnsafeBufferPointer { decode(text, into: bytes, $0) }
                initialized = isValid ? text.count * 3 / 4 : 0
            }
            return isValid ? bytes : nil
        }
    }

    private static func decode(
        _ text: UnsafeBufferPointer<UInt8>, into bytes: UnsafeMutableBufferPointer<UInt8>,
        _ values: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        var (from, to) = (0, 0)
        // Values have 6 bits; what is none has more.
        var all: UInt8 = 0
        func value(_ place: Int) -> UInt32 {
            let value = values[Int(text[place])]
            all |= value
            return UInt32(value)
        }
        while text.count - from >= 4 {
            let bits = value(from) << 18 | value(from + 1) << 12 | value(from + 2) << 6 | value(from + 3)
            bytes[to] = UInt8(truncatingIfNeeded: bits >> 16)
            bytes[to + 1] = UInt8(truncatingIfNeeded: bits >> 8)
            bytes[to + 2] = UInt8(truncatingIfNeeded: bits)
            (from, to) = (from + 4, to + 3)
        }
        var surplus: UInt32 = 0
        switch text.count - from {
        case 2:
            let bits = value(from) << 6 | value(from + 1)
            bytes[to] = UInt8(truncatingIfNeeded: bits >> 4)
            surplus = bits & 15
        case 3:
            let bits = value(from) << 12 | value(from + 1) << 6 | value(from + 2)
            bytes[to] = UInt8(truncatingIfNeeded: bits >> 10)
            bytes[to + 1] = UInt8(truncatingIfNeeded: bits >> 2)
            surplus = bits & 3
        default: break
        }
        return all < 64 && surplus == 0
    }
}
