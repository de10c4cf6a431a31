/// The text of JSON strings: between what stands in a frame and what it means.
enum JSONText {
    /// The bytes that a string spells. `inner` is what stands between the quotes, and a scanner has accepted it.
    static func unescaped(_ inner: UnsafeRawBufferPointer) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(inner.count)
        var index = 0
        while index < inner.count {
            let byte = inner[index]
            index += 1
            guard byte == UInt8(ascii: "\\"), index < inner.count else {
                text.append(byte)
                continue
            }
            let kind = inner[index]
            index += 1
            switch kind {
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "u"):
                var scalar = unit(inner, at: index)
                index += 4
                if scalar & 0xFC00 == 0xD800 {
                    scalar = 0x10000 &+ (scalar & 0x3FF) << 10 &+ (unit(inner, at: index + 2) & 0x3FF)
                    index += 6
                }
                text.append(
                    contentsOf: UTF8.encode(Unicode.Scalar(scalar) ?? "\u{FFFD}") ?? UTF8.encodedReplacementCharacter)
            default: text.append(kind)
            }
        }
        return text
    }

    /// Appends `text` as a JSON string, quotes included. Only what must be escaped is.
    static func appendQuoted(_ text: some Sequence<UInt8>, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                output.append(UInt8(ascii: "\\"))
                output.append(byte)
            case 0..<0x20:
                output.append(contentsOf: "\\u00".utf8)
                output.append(hexDigits[Int(byte >> 4)])
                output.append(hexDigits[Int(byte & 15)])
            default: output.append(byte)
            }
        }
        output.append(UInt8(ascii: "\""))
    }

    /// Appends a whole number.
    static func appendNumber(_ number: Int64, to output: inout [UInt8]) {
        if number < 0 { output.append(UInt8(ascii: "-")) }
        let start = output.count
        var rest = number.magnitude
        repeat {
            output.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        output[start...].reverse()
    }

    /// Does the string, quotes included, hold an escaped NUL?
    static func spellsNUL(_ string: UnsafeRawBufferPointer) -> Bool {
        unescaped(string).contains(0)
    }

    static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte &- UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte &- UInt8(ascii: "a") &+ 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte &- UInt8(ascii: "A") &+ 10
        default: nil
        }
    }

    private static let hexDigits = Array("0123456789abcdef".utf8)

    private static func unit(_ text: UnsafeRawBufferPointer, at index: Int) -> UInt32 {
        guard index >= 0, index + 4 <= text.count else { return 0xFFFD }
        return text[index..<index + 4].reduce(0) { $0 << 4 | UInt32(hexDigit($1) ?? 0) }
    }
}
