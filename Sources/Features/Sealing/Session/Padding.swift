/// Padmé sizes: what a plaintext is filled up to, so that its length says little (WireSessions, "Padding").
///
/// The content, a byte 0x80, then zeros. At least 256 bytes, so that the short messages look alike. Above that, at most
/// 12 % more.
enum Padding {
    static let smallest = 256

    /// The Padmé size for that many bytes: it keeps as many leading bits of the length as the length of its exponent has.
    static func size(of count: Int) -> Int {
        guard count > smallest else { return smallest }
        let exponent = Int.bitWidth - 1 - count.leadingZeroBitCount
        let significant = Int.bitWidth - exponent.leadingZeroBitCount
        let mask = (1 << (exponent - significant)) - 1
        return (count + mask) & ~mask
    }

    /// The caller bounds the length.
    static func pad(_ content: [UInt8]) -> [UInt8] {
        let count = size(of: content.count + 1)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            buffer.initialize(repeating: 0)
            for index in content.indices { buffer[index] = content[index] }
            buffer[content.count] = 0x80
            initialized = count
        }
    }

    /// The content; `nil` unless it was padded in exactly this way.
    static func unpad(_ padded: [UInt8]) -> ArraySlice<UInt8>? {
        guard let end = padded.lastIndex(where: { $0 != 0 }), padded[end] == 0x80, padded.count == size(of: end + 1)
        else { return nil }
        return padded[..<end]
    }
}
