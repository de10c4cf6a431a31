import Identity

/// NATS's spelling of Ed25519 keys: base32 of a kind, the key and a checksum (CRC-16/XMODEM, little-endian).
enum NKey {
    private static let seedKind: UInt8 = 18 << 3
    private static let userKind: UInt8 = 20 << 3
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// The 32 bytes of a user's seed, `SU…`; `nil` for anything else.
    static func seed(_ text: String) -> [UInt8]? {
        guard let bytes = decode(text), bytes.count == 36 else { return nil }
        let body = bytes.prefix(34)
        guard UInt16(bytes[34]) | UInt16(bytes[35]) << 8 == checksum(body), bytes[0] & 0xF8 == seedKind,
            (bytes[0] & 7) << 5 | bytes[1] >> 3 == userKind
        else { return nil }
        return Array(body.dropFirst(2))
    }

    static func user(_ key: PublicKey) -> String {
        var bytes = [userKind] + key.bytes
        let sum = checksum(bytes[...])
        bytes += [UInt8(truncatingIfNeeded: sum), UInt8(truncatingIfNeeded: sum >> 8)]
        return encode(bytes)
    }

    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt16 {
        var sum: UInt16 = 0
        for byte in bytes {
            sum ^= UInt16(byte) << 8
            for _ in 0..<8 { sum = sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021 }
        }
        return sum
    }

    private static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        var (bits, count): (UInt32, UInt32) = (0, 0)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 5 {
                count -= 5
                text.append(alphabet[Int(bits >> count & 31)])
            }
            bits &= 1 << count - 1
        }
        if count > 0 { text.append(alphabet[Int(bits << (5 - count) & 31)]) }
        return String(decoding: text, as: UTF8.self)
    }

    private static func decode(_ text: String) -> [UInt8]? {
        guard text.utf8.count <= 128 else { return nil }
        var bytes: [UInt8] = []
        var (bits, count): (UInt32, UInt32) = (0, 0)
        for character in text.utf8 {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            bits = bits << 5 | UInt32(value)
            count += 5
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            bits &= 1 << count - 1
        }
        // What is left over is less than a character, and zero: a key has one spelling.
        return count < 5 && bits == 0 ? bytes : nil
    }
}
