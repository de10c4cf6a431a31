import Identity

/// Text that a header carries in ASCII: `=?UTF-8?B?…?=` and `=?UTF-8?Q?…?=` (RFC 2047).
enum EncodedWord {
    /// The text of a value that consists of encoded words; any other value as it is.
    static func decode(_ value: String) -> String {
        guard value.hasPrefix("=?") else { return value }
        var bytes: [UInt8] = []
        for word in value.split(separator: " ") {
            guard let decoded = decode(word: word) else { return value }
            bytes += decoded
        }
        return String(validating: bytes, as: UTF8.self) ?? value
    }

    private static func decode(word: Substring) -> [UInt8]? {
        let parts = word.split(separator: "?", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0] == "=", parts[4] == "=", parts[1].lowercased() == "utf-8" else { return nil }
        switch parts[2].lowercased() {
        case "b": return TextEncoding.base64.decode(String(parts[3]))
        case "q": return quoted(parts[3])
        default: return nil
        }
    }

    private static func quoted(_ text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "_"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "="):
                // A number may have a sign, an escape may not.
                guard rest.count >= 2, rest.first != UInt8(ascii: "+"), rest.first != UInt8(ascii: "-"),
                    let value = UInt8(String(decoding: Array(rest.prefix(2)), as: UTF8.self), radix: 16)
                else { return nil }
                bytes.append(value)
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        return bytes
    }
}
