package import JSON

/// Escapes of JSON that stand for half of a character.
package enum LoneSurrogates {
    /// JSON of a client's. Clients that cut texts anywhere leave a surrogate without its other half, which becomes U+FFFD.
    package static func value(of text: String, depth: Int = 8) throws(JSONError) -> JSONValue {
        do throws(JSONError) { return try JSONValue(parsing: text, depth: depth) } catch {
            return try JSONValue(parsing: replaced(in: text), depth: depth)
        }
    }

    /// The text with `\ufffd` in the place of each `\ud800` to `\udfff` that has no other half.
    static func replaced(in text: String) -> String {
        var bytes = Array(text.utf8)
        var index = 0
        while index + 1 < bytes.count {
            guard bytes[index] == UInt8(ascii: "\\") else {
                index += 1
                continue
            }
            guard let first = unit(bytes, at: index), 0xd800...0xdfff ~= first else {
                index += 2
                continue
            }
            if first < 0xdc00, let second = unit(bytes, at: index + 6), 0xdc00...0xdfff ~= second {
                index += 12
                continue
            }
            bytes.replaceSubrange(index..<(index + 6), with: "\\ufffd".utf8)
            index += 6
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The code unit of an escape.
    private static func unit(_ bytes: [UInt8], at index: Int) -> UInt16? {
        guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u"),
            bytes[index + 2] != UInt8(ascii: "+")
        else { return nil }
        return UInt16(String(decoding: bytes[(index + 2)..<(index + 6)], as: UTF8.self), radix: 16)
    }
}
