extension FrameDecoder {
    /// A text message that stands whole in the input: unmasked in place, nothing copied.
    ///
    /// `nil` for everything else, with the input untouched. Only lengths in their shortest form are taken, as the RFC
    /// demands.
    static func takeWhole(
        _ input: inout UnsafeMutableRawBufferPointer, isMasked: Bool, limit: Int
    ) -> (bytes: UnsafeMutableRawBufferPointer, isUTF8: Bool)? {
        let available = input.count
        guard let base = input.baseAddress, available >= 2 else { return nil }
        // 0x81: final, no reserved bits, text.
        let second = base.load(fromByteOffset: 1, as: UInt8.self)
        guard base.load(as: UInt8.self) == 0x81, (second & 0x80 != 0) == isMasked else { return nil }
        var length = Int(second & 0x7f)
        var header = 2
        switch length {
        case 126:
            guard available >= 4 else { return nil }
            length = Int(UInt16(bigEndian: base.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
            guard length > 125 else { return nil }
            header = 4
        case 127:
            guard available >= 10 else { return nil }
            let long = UInt64(bigEndian: base.loadUnaligned(fromByteOffset: 2, as: UInt64.self))
            guard long > 0xffff, long <= UInt64(available) else { return nil }
            length = Int(long)
            header = 10
        default: break
        }
        let payload = header + (isMasked ? 4 : 0)
        guard length <= limit, available - payload >= length else { return nil }
        let bytes = UnsafeMutableRawBufferPointer(start: base + payload, count: length)
        let isASCII =
            isMasked
            ? unmask(bytes, base.loadUnaligned(fromByteOffset: header, as: UInt32.self))
            : UTF8Check.isASCII(UnsafeRawBufferPointer(bytes))
        input = UnsafeMutableRawBufferPointer(start: base + payload + length, count: available - payload - length)
        return (bytes, isASCII || UTF8Check.isValid(UnsafeRawBufferPointer(bytes)))
    }

    /// A ping or pong that stands whole in the input, unmasked in place. `nil` for everything else, with the input untouched.
    static func takeWholeControl(
        _ input: inout UnsafeMutableRawBufferPointer, isMasked: Bool
    ) -> (bytes: UnsafeRawBufferPointer, isPing: Bool)? {
        let header = isMasked ? 6 : 2
        guard let base = input.baseAddress, input.count >= header else { return nil }
        // 0x89 and 0x8A: final, no reserved bits, ping or pong.
        let (first, second) = (base.load(as: UInt8.self), base.load(fromByteOffset: 1, as: UInt8.self))
        guard first == 0x89 || first == 0x8A, (second & 0x80 != 0) == isMasked else { return nil }
        let length = Int(second & 0x7f)
        guard length <= 125, input.count - header >= length else { return nil }
        let bytes = UnsafeMutableRawBufferPointer(start: base + header, count: length)
        if isMasked { _ = unmask(bytes, base.loadUnaligned(fromByteOffset: 2, as: UInt32.self)) }
        input = UnsafeMutableRawBufferPointer(start: base + header + length, count: input.count - header - length)
        return (UnsafeRawBufferPointer(bytes), first == 0x89)
    }

    /// Takes the mask off, and tells in the same pass whether all is ASCII.
    private static func unmask(_ bytes: UnsafeMutableRawBufferPointer, _ key: UInt32) -> Bool {
        guard let base = bytes.baseAddress else { return true }
        let count = bytes.count
        let wideKey = UInt64(key) << 32 | UInt64(key)
        var seen: UInt64 = 0
        var offset = 0
        while count &- offset >= 8 {
            let plain = base.loadUnaligned(fromByteOffset: offset, as: UInt64.self) ^ wideKey
            seen |= plain
            base.storeBytes(of: plain, toByteOffset: offset, as: UInt64.self)
            offset &+= 8
        }
        while offset < count {
            let plain =
                base.load(fromByteOffset: offset, as: UInt8.self)
                ^ UInt8(truncatingIfNeeded: key >> (UInt32(truncatingIfNeeded: offset & 3) &* 8))
            seen |= UInt64(plain)
            base.storeBytes(of: plain, toByteOffset: offset, as: UInt8.self)
            offset &+= 1
        }
        return UTF8Check.hasNoHighBit(seen)
    }
}
