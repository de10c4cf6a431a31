/// A peer's text, made safe for a terminal.
enum Printable {
    /// One line: line breaks and tabs become spaces. Other control characters, which could control the terminal, and
    /// marks that change the text direction become `?`. Joiners stay: emoji and some languages are written with them.
    static func line(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x09, 0x0A, 0x0D, 0x2028, 0x2029: result.append(" ")
            case 0x00..<0x20, 0x7F..<0xA0, 0x061C, 0x200B, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x206F, 0xFEFF:
                result.append("?")
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    /// The same for several lines: line breaks and tabs stay.
    static func lines(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n", "\t": result.append(scalar)
            default: result.append(contentsOf: line(String(scalar)).unicodeScalars)
            }
        }
        return String(result)
    }

    static func padded(_ text: String, to width: Int) -> String {
        text.count >= width ? text : text + String(repeating: " ", count: width - text.count)
    }
}
