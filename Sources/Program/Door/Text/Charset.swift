import Glibc
import Transport

/// Text in the character sets that programs declare or use without saying so.
package enum Charset {
    /// The text of these bytes. Bytes that the character set doesn't have become U+FFFD.
    ///
    /// - Parameter name: as in a Content-Type or an encoded word, in any case.
    /// - Returns: `nil` for a character set that isn't known.
    static func decode(_ bytes: [UInt8], as name: String) -> String? {
        switch CharsetName(name)?.form {
        case nil: nil
        case .utf8: String(decoding: bytes, as: UTF8.self)
        // Who says ASCII and sends other bytes means something else.
        case .ascii: guess(bytes)
        // As browsers do it: the difference are control characters, which no text has.
        case .western: western(bytes)
        case .latin9: String(String.UnicodeScalarView(bytes.map { latin9[$0] ?? Unicode.Scalar($0) }))
        case .utf16(let isBig): utf16(bytes, isBig: isBig)
        case .utf32(let isBig): utf32(bytes, isBig: isBig)
        case .library(let name): convert(bytes, from: name)
        }
    }

    static func isKnown(_ name: String) -> Bool { CharsetName(name) != nil }

    /// The text of bytes whose character set isn't known: UTF-8; UTF-16 if it has a byte order mark; else
    /// Windows-1252, byte by byte wherever there is no UTF-8.
    package static func guess(_ bytes: [UInt8]) -> String {
        if bytes.count > 2, bytes.count % 2 == 0, bytes.starts(with: [0xff, 0xfe]) || bytes.starts(with: [0xfe, 0xff]) {
            return utf16(bytes, isBig: false)
        }
        if let text = String(validating: bytes, as: UTF8.self) {
            return text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        }
        let whole = bytes.dropLast(UTF8Cut.length(of: bytes))
        if whole.count < bytes.count, String(validating: whole, as: UTF8.self) != nil {
            return guess(Array(whole)) + "\u{FFFD}"
        }
        var scalars = String.UnicodeScalarView()
        var index = 0
        var isUTF8 = false
        while index < bytes.count {
            let byte = bytes[index]
            let length = byte < 0xc2 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
            let end = min(index + length, bytes.count)
            if let text = String(validating: bytes[index..<end], as: UTF8.self) {
                scalars.append(contentsOf: text.unicodeScalars)
                isUTF8 = isUTF8 || length > 1
                index = end
            } else if isUTF8, length > end - index, bytes[(index + 1)...].allSatisfy({ $0 & 0xc0 == 0x80 }) {
                // Cut off inside a character.
                scalars.append("\u{FFFD}")
                break
            } else {
                scalars.append(western(byte))
                index += 1
            }
        }
        return String(scalars)
    }

    // MARK: Single bytes

    /// Header values that were no UTF-8 were read as ISO-8859-1. Its control characters are letters of Windows-1252.
    static func western(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { 0x80...0x9f ~= $0.value }) else { return text }
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { 0x80...0x9f ~= $0.value ? western(UInt8(truncatingIfNeeded: $0.value)) : $0 })
        )
    }

    private static func western(_ bytes: [UInt8]) -> String {
        String(String.UnicodeScalarView(bytes.map { western($0) }))
    }

    private static func western(_ byte: UInt8) -> Unicode.Scalar {
        0x80...0x9f ~= byte ? windows1252[Int(byte) - 0x80] : Unicode.Scalar(byte)
    }

    /// From 0x80 to 0x9f.
    private static let windows1252: [Unicode.Scalar] = [
        "€", "\u{FFFD}", "‚", "ƒ", "„", "…", "†", "‡", "ˆ", "‰", "Š", "‹", "Œ", "\u{FFFD}", "Ž", "\u{FFFD}",
        "\u{FFFD}", "‘", "’", "“", "”", "•", "–", "—", "˜", "™", "š", "›", "œ", "\u{FFFD}", "ž", "Ÿ",
    ]
    /// What differs from ISO-8859-1.
    private static let latin9: [UInt8: Unicode.Scalar] = [
        0xa4: "€", 0xa6: "Š", 0xa8: "š", 0xb4: "Ž", 0xb8: "ž", 0xbc: "Œ", 0xbd: "œ", 0xbe: "Ÿ",
    ]

    // MARK: The C library's

    private static func convert(_ bytes: [UInt8], from name: String) -> String? {
        guard let converter = iconv_open("UTF-8", name), Int(bitPattern: converter) != -1 else { return nil }
        defer { iconv_close(converter) }
        var result: [UInt8] = []
        var input = bytes.map { CChar(bitPattern: $0) }
        var output = [CChar](repeating: 0, count: 4_096)
        let capacity = output.count
        input.withUnsafeMutableBufferPointer { input in
            var next = input.baseAddress
            var left = input.count
            while true {
                let before = left
                // Without input it gives the last character, which a mark could have followed (Windows-1255 and -1258).
                let isEnd = left == 0
                let (status, failure, count) = output.withUnsafeMutableBufferPointer { output in
                    var end = output.baseAddress
                    var room = capacity
                    let status =
                        isEnd ? iconv(converter, nil, nil, &end, &room) : iconv(converter, &next, &left, &end, &room)
                    return (status, errno, capacity - room)
                }
                result.append(contentsOf: output[..<count].map { UInt8(bitPattern: $0) })
                if isEnd { break }
                guard status == -1 else { continue }
                if failure == E2BIG, count > 0 || left < before { continue }
                result.append(contentsOf: "\u{FFFD}".utf8)
                next = next?.advanced(by: 1)
                left -= 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Without a byte order mark, whose order counts first.
    private static func utf16(_ bytes: [UInt8], isBig: Bool) -> String {
        let mark = bytes.prefix(2)
        let isBig = mark.elementsEqual([0xfe, 0xff]) || isBig && !mark.elementsEqual([0xff, 0xfe])
        var units = stride(from: 0, to: bytes.count - 1, by: 2).map { index in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return isBig ? first << 8 | second : second << 8 | first
        }
        if units.first == 0xfeff { units.removeFirst() }
        return String(decoding: units, as: UTF16.self)
    }
    private static func utf32(_ bytes: [UInt8], isBig: Bool) -> String {
        let mark = bytes.prefix(4)
        let isBig = mark.elementsEqual([0, 0, 0xfe, 0xff]) || isBig && !mark.elementsEqual([0xff, 0xfe, 0, 0])
        var scalars = stride(from: 0, to: bytes.count - 3, by: 4).map { index in
            let unit = bytes[index..<index + 4]
            let value = (isBig ? Array(unit) : unit.reversed()).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            return Unicode.Scalar(value) ?? "\u{FFFD}"
        }
        if scalars.first == "\u{FEFF}" { scalars.removeFirst() }
        return String(String.UnicodeScalarView(scalars))
    }
}
