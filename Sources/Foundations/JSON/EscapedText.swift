/// Finds the bytes of a text that need no escape in JSON, eight at a time.
enum EscapedText {
    /// A quote, a backslash or a control character.
    @inline(__always)
    static func stops(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// Whether one of these eight bytes stops.
    @inline(__always)
    static func mayStop(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let tops: UInt64 = 0x8080_8080_8080_8080
        let quote = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
        let backslash = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
        // A byte that is 0, or less than 0x20, borrows from its top bit, which it does not have.
        let found =
            ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash) | ((word &- (ones &* 0x20)) & ~word)
        return found & tops != 0
    }

    /// How many bytes the text takes in JSON, without its quotes.
    static func count(of text: UnsafeRawBufferPointer) -> Int {
        var count = text.count
        scan(text) { byte in count += escape(byte) == nil ? 5 : 1 }
        return count
    }

    /// The letter that stands for a byte after a backslash; `nil` = `\u00` and two digits.
    static func escape(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
        case 0x08: UInt8(ascii: "b")
        case 0x0C: UInt8(ascii: "f")
        case 0x0A: UInt8(ascii: "n")
        case 0x0D: UInt8(ascii: "r")
        case 0x09: UInt8(ascii: "t")
        default: nil
        }
    }

    @inline(__always)
    private static func scan(_ text: UnsafeRawBufferPointer, _ found: (UInt8) -> Void) {
        guard let start = text.baseAddress else { return }
        var offset = 0
        while offset < text.count {
            if text.count - offset >= 8, !mayStop((start + offset).loadUnaligned(as: UInt64.self)) {
                offset += 8
                continue
            }
            let stop = min(offset + 8, text.count)
            while offset < stop {
                let byte = (start + offset).load(as: UInt8.self)
                if stops(byte) { found(byte) }
                offset += 1
            }
        }
    }
}
