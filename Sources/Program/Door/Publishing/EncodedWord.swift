import Identity

/// Text that a header carries in ASCII (RFC 2047): `=?UTF-8?B?…?=` and `=?UTF-8?Q?…?=`, also with a language (RFC 2231).
enum EncodedWord {
    /// The text with its encoded words decoded. Blanks between two of them don't count. What is not an encoded word, or
    /// has an unknown character set, stays as it is.
    static func decode(_ value: String) -> String {
        guard value.contains("=?") else { return value }
        let bytes = Array(value.utf8)
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            guard let run = Run(bytes, from: index) else {
                result.append(bytes[index])
                index += 1
                continue
            }
            if let text = Charset.decode(run.content, as: run.charset) {
                result += text.utf8
            } else {
                result += bytes[index..<run.end]
            }
            index = run.end
            // Only between two encoded words.
            let next = bytes[index...].firstIndex { !isBlank($0) } ?? bytes.endIndex
            if Word(bytes, from: next) != nil { index = next }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Encoded words of one character set, one after the other: a character may begin in one and end in the next.
    private struct Run {
        let charset: String
        var content: [UInt8]
        var end: Int

        init?(_ bytes: [UInt8], from start: Int) {
            guard let first = Word(bytes, from: start) else { return nil }
            (charset, content, end) = (first.charset, first.content, first.end)
            while let next = bytes[end...].firstIndex(where: { !isBlank($0) }), let word = Word(bytes, from: next),
                word.charset == charset
            {
                content += word.content
                end = word.end
            }
        }
    }

    private struct Word {
        let charset: String
        let content: [UInt8]
        let end: Int

        init?(_ bytes: [UInt8], from start: Int) {
            guard bytes[start...].starts(with: "=?".utf8) else { return nil }
            // Four parts: character set and language, encoding, text, and the end, which begins with "=".
            let parts = bytes[(start + 2)...].split(
                separator: UInt8(ascii: "?"), maxSplits: 3, omittingEmptySubsequences: false)
            guard parts.count == 4, 1...64 ~= parts[0].count, !parts[0].contains(where: isBlank),
                parts[3].first == UInt8(ascii: "=")
            else { return nil }
            let charset = String(decoding: parts[0].prefix { $0 != UInt8(ascii: "*") }, as: UTF8.self)
            self.charset = charset.lowercased()
            end = parts[3].startIndex + 1
            switch String(decoding: parts[1], as: UTF8.self) {
            case "B", "b":
                // Some writers leave the padding out.
                let text = parts[2].filter { $0 != UInt8(ascii: "=") }
                let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - text.count % 4) % 4)
                guard let content = TextEncoding.base64.decode(String(decoding: text + padding, as: UTF8.self)) else {
                    return nil
                }
                self.content = content
            case "Q", "q":
                guard let content = EncodedWord.quoted(parts[2]) else { return nil }
                self.content = content
            default: return nil
            }
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0d ~= byte }

    private static func quoted(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "_"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "="):
                // A number may have a sign, an escape may not.
                guard rest.count >= 2, rest.first != UInt8(ascii: "+"), rest.first != UInt8(ascii: "-"),
                    let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
                else { return nil }
                bytes.append(value)
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        return bytes
    }
}
