/// Checks whether bytes are UTF-8. Most are ASCII, which is told many bytes at a time.
enum UTF8Check {
    static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !isASCII(bytes) else { return true }
        do {
            _ = try UTF8Span(validating: bytes.assumingMemoryBound(to: UInt8.self).span)
            return true
        } catch { return false }
    }

    static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let base = bytes.baseAddress else { return true }
        let count = bytes.count
        var seen: UInt64 = 0
        var offset = 0
        // Words, and no vectors: the compiler makes vectors of these, and a call for each byte of those.
        while count &- offset >= 8 {
            seen |= base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            offset &+= 8
        }
        while offset < count {
            seen |= UInt64(base.load(fromByteOffset: offset, as: UInt8.self))
            offset &+= 1
        }
        return hasNoHighBit(seen)
    }

    /// Whether the bytes that were OR-ed into `seen` are all ASCII.
    @inline(__always)
    static func hasNoHighBit(_ seen: UInt64) -> Bool {
        seen & 0x8080_8080_8080_8080 == 0
    }
}
