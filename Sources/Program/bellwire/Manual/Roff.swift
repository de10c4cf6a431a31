/// Text in the language of man pages.
enum Roff {
    /// Text as it is to be read and copied: nothing in it is a request or an escape, every hyphen is one of ASCII's.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\(rs"
            case "-": result += "\\-"
            case "'": result += "\\(aq"
            case "`": result += "\\(ga"
            case "^": result += "\\(ha"
            case "~": result += "\\(ti"
            case "\"": result += "\\(dq"
            case _ where scalar.isASCII: result.unicodeScalars.append(scalar)
            default:
                let code = String(scalar.value, radix: 16, uppercase: true)
                result += "\\[u\(String(repeating: "0", count: max(0, 4 - code.count)))\(code)]"
            }
        }
        // A dot at the beginning of a line would make it a request; the apostrophe is escaped already.
        return result.hasPrefix(".") ? "\\&" + result : result
    }

    static func bold(_ text: String) -> String { "\\fB\(escaped(text))\\fR" }

    static func italic(_ text: String) -> String { "\\fI\(escaped(text))\\fR" }

    /// A paragraph: options in it are bold, as in the list of options.
    static func prose(_ text: String) -> String {
        let words = text.split(separator: " ").map { word -> String in
            let name = word.prefix { $0 == "-" || $0.isLetter }
            guard word.hasPrefix("--"), name.count > 2 else { return escaped(String(word)) }
            return bold(String(name)) + escaped(String(word.dropFirst(name.count)))
        }
        // Only the first word stands at the beginning of a line.
        return words.joined(separator: " ")
    }

    static func section(_ title: String) -> String { ".SH \(title)" }

    /// A term and what it means, indented below it.
    static func item(_ term: String, _ text: String) -> String { ".TP\n\(term)\n\(prose(text))" }

    /// A line as it is typed.
    static func command(_ line: String) -> String { ".PP\n.RS 4\n.nf\n\(bold(line))\n.fi\n.RE" }
}
