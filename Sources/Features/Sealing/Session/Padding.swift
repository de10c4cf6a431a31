/// Padmé sizes: what a plaintext is filled up to, so that its length says little (WireSessions, "Padding").
///
/// The content, a byte 0x80, then zeros; at most 12 % more. The smallest size that is read is 256 bytes, for senders
/// that don't fill; the smallest that is sent is 512, because the content is filled with spaces (``fill(_:)``). Zeros
/// alone would not do: ``unpad(_:)`` refuses 512 bytes with a shorter content.
enum Padding {
    static let smallest = 256
    static let short = 512

    /// The Padmé size for that many bytes: it keeps as many leading bits of the length as the length of its exponent has.
    static func size(of count: Int) -> Int {
        guard count > smallest else { return smallest }
        let exponent = Int.bitWidth - 1 - count.leadingZeroBitCount
        let significant = Int.bitWidth - exponent.leadingZeroBitCount
        let mask = (1 << (exponent - significant)) - 1
        return (count + mask) & ~mask
    }

    /// All short JSON texts have the same length, with spaces at their end.
    static func fill(_ json: inout [UInt8]) {
        let missing = short - 1 - json.count
        if missing > 0 { json += repeatElement(UInt8(ascii: " "), count: missing) }
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
