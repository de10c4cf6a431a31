import Glibc

/// Text in the character sets that programs declare or use without saying so.
package enum Charset {
    /// The text of these bytes. Bytes that the character set doesn't have become U+FFFD.
    ///
    /// - Parameter name: as in a Content-Type or an encoded word, in any case.
    /// - Returns: `nil` for a character set that isn't known.
    static func decode(_ bytes: [UInt8], as name: String) -> String? {
        let name = name.lowercased()
        switch name {
        case "utf-8", "utf8", "unicode-1-1-utf-8": return String(decoding: bytes, as: UTF8.self)
        // Who says ASCII and sends other bytes means something else.
        case "us-ascii", "ascii", "ansi_x3.4-1968": return guess(bytes)
        // As browsers do it: the difference are control characters, which no text has.
        case "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "latin-1", "l1", "windows-1252", "cp1252":
            return western(bytes)
        case "iso-8859-15", "iso8859-15", "iso_8859-15", "latin9", "latin-9", "l9":
            return String(String.UnicodeScalarView(bytes.map { latin9[$0] ?? Unicode.Scalar($0) }))
        case "utf-16", "utf-16le", "utf-16be": return utf16(bytes, isBig: name == "utf-16be")
        default: return others[name].flatMap { convert(bytes, from: $0) } ?? numbered(name, bytes)
        }
    }

    /// The text of bytes whose character set isn't known: UTF-8; UTF-16 if it has a byte order mark; else
    /// Windows-1252, byte by byte wherever there is no UTF-8.
    package static func guess(_ bytes: [UInt8]) -> String {
        if bytes.count > 2, bytes.count % 2 == 0, bytes.starts(with: [0xff, 0xfe]) || bytes.starts(with: [0xfe, 0xff]) {
            return utf16(bytes, isBig: false)
        }
        if let text = String(validating: bytes, as: UTF8.self) {
            return text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
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

    /// By the names that the C library has for them. Others are not passed to it: some of its converters had faults.
    private static let others = [
        "koi8-r": "KOI8-R", "koi8-u": "KOI8-U", "shift_jis": "CP932", "shift-jis": "CP932", "sjis": "CP932",
        "windows-31j": "CP932", "euc-jp": "EUC-JP", "iso-2022-jp": "ISO-2022-JP", "gb2312": "GBK", "gbk": "GBK",
        "gb18030": "GB18030", "big5": "BIG5", "euc-kr": "CP949", "ks_c_5601-1987": "CP949", "windows-949": "CP949",
        "tis-620": "TIS-620", "macintosh": "MACINTOSH", "iso-8859-8-i": "ISO-8859-8",
    ]

    /// ISO-8859-2 to -16 and Windows-1250 to -1258.
    private static func numbered(_ name: String, _ bytes: [UInt8]) -> String? {
        for (prefix, own, numbers) in [
            ("iso-8859-", "ISO-8859-", 2...16), ("windows-", "CP", 1250...1258), ("cp", "CP", 1250...1258),
        ] where name.hasPrefix(prefix) {
            guard let number = Int(name.dropFirst(prefix.count)), numbers.contains(number) else { continue }
            return convert(bytes, from: "\(own)\(number)")
        }
        return nil
    }

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
            while left > 0 {
                let before = left
                let (status, failure, count) = output.withUnsafeMutableBufferPointer { output in
                    var end = output.baseAddress
                    var room = capacity
                    let status = iconv(converter, &next, &left, &end, &room)
                    return (status, errno, capacity - room)
                }
                result.append(contentsOf: output[..<count].map { UInt8(bitPattern: $0) })
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
}
