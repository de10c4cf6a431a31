/// Makes any text one that a notification server shows as it is, and nothing else.
///
/// What is not to be seen is taken out: control characters, the marks and overrides of writing direction, noncharacters.
/// The time it takes does not depend on how long the text is.
package enum BannerText {
    /// Scalars of one character; what more is piled on it is left out. (A family with skin tones has 11.)
    static let maximumScalars = 16

    /// One line, at most `limit` characters, the last of which is "…" when there were more.
    package static func line(_ text: String, limit: Int = 256) -> String {
        clean(text, limit: limit, lineBreak: " ")
    }

    /// The same with line breaks.
    package static func lines(_ text: String, limit: Int = 4_096) -> String {
        clean(text, limit: limit, lineBreak: "\n")
    }

    /// For a server that reads markup: nothing in the text is any.
    ///
    /// The five names that XML knows by itself: GNOME Shell shows numbers as they are written.
    package static func escaped(_ text: String) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count &+ 16)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): result += "&amp;".utf8
            case UInt8(ascii: "<"): result += "&lt;".utf8
            case UInt8(ascii: ">"): result += "&gt;".utf8
            case UInt8(ascii: "\""): result += "&quot;".utf8
            case UInt8(ascii: "'"): result += "&apos;".utf8
            default: result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func clean(_ text: String, limit: Int, lineBreak: Unicode.Scalar) -> String {
        guard limit > 0 else { return "" }
        // So much is looked at, whatever it is made of.
        let considered = limit &* maximumScalars
        var taken = String.UnicodeScalarView()
        var rest = text.unicodeScalars.makeIterator()
        var count = 0
        var isAfterReturn = false
        var isCut = false
        while let scalar = rest.next() {
            guard count < considered else {
                isCut = true
                break
            }
            count &+= 1
            defer { isAfterReturn = scalar == "\r" }
            if scalar == "\n", isAfterReturn { continue }
            if isLineBreak(scalar) {
                taken.append(lineBreak)
            } else if scalar == "\t" {
                taken.append(" ")
            } else if isShown(scalar) {
                taken.append(scalar)
            }
        }
        return cut(String(taken), limit: limit, hasMore: isCut)
    }

    private static func cut(_ text: String, limit: Int, hasMore: Bool) -> String {
        var result = ""
        var count = 0
        var index = text.startIndex
        var last = text.startIndex
        while index < text.endIndex {
            if count == limit {
                return String(result[..<last]) + "…"
            }
            last = result.endIndex
            let next = text.index(after: index)
            let scalars = text[index..<next].unicodeScalars
            result.unicodeScalars.append(contentsOf: scalars.prefix(maximumScalars))
            count &+= 1
            index = next
        }
        guard hasMore else { return result }
        return (count == limit ? String(result[..<last]) : result) + "…"
    }

    private static func isLineBreak(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Line feed, vertical tab, form feed, carriage return, next line, separators of lines and paragraphs.
        case 0x0A...0x0D, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }

    /// Whether nothing would be taken out of the text.
    static func isShown(_ text: String) -> Bool { text.unicodeScalars.allSatisfy { isShown($0) } }

    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F: false
        // Marks, embeddings, overrides and isolates of direction.
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: false
        // Deprecated formats, annotations, byte order marks.
        case 0x206A...0x206F, 0xFFF9...0xFFFB, 0xFEFF: false
        // Noncharacters: a bus or server may end the connection for them.
        case 0xFDD0...0xFDEF: false
        default: scalar.value & 0xFFFE != 0xFFFE
        }
    }
}
