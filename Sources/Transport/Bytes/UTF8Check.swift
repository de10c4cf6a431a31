/// Whether bytes are UTF-8. Most are ASCII, which is told 32 bytes at a time.
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
        var seen = SIMD32<UInt8>(repeating: 0)
        var offset = 0
        while count &- offset >= 32 {
            seen |= base.loadUnaligned(fromByteOffset: offset, as: SIMD32<UInt8>.self)
            offset &+= 32
        }
        var rest: UInt8 = 0
        while offset < count {
            rest |= base.load(fromByteOffset: offset, as: UInt8.self)
            offset &+= 1
        }
        return hasNoHighBit(seen) && rest < 0x80
    }

    @inline(__always)
    static func hasNoHighBit(_ bytes: SIMD32<UInt8>) -> Bool {
        let words = unsafeBitCast(bytes, to: SIMD4<UInt64>.self)
        return (words[0] | words[1] | words[2] | words[3]) & 0x8080_8080_8080_8080 == 0
    }
}
