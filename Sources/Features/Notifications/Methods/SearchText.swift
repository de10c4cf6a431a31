/// Text as the full-text index reads it, and the user's words as it is asked for them.
///
/// The index separates words by spaces. Chinese and Japanese have none, so each of their characters is indexed as a
/// word, and a search word in such characters matches them as a sequence.
package enum SearchText {
    /// What is indexed beside title and body; `nil` when these are enough.
    package static func of(title: String, body: String) -> String? {
        guard hasUnspaced(title) || hasUnspaced(body) else { return nil }
        return spaced(title) + "\n" + spaced(body)
    }

    /// The user's words as an FTS5 expression: all of them must be there; `buil*` stands for any word that begins so.
    /// Nothing else in it has a meaning to FTS5. `nil` when there are no words.
    package static func expression(_ text: String) -> String? {
        let words = text.split { $0.isWhitespace || $0 == "\0" }.prefix(wordLimit)
        let phrases = words.compactMap { word -> String? in
            let isPrefix = word.last == "*"
            let bare = isPrefix ? word.dropLast() : word
            guard !bare.isEmpty else { return nil }
            var phrase = ""
            for scalar in spaced(String(bare)).unicodeScalars where scalar != "\0" {
                phrase.unicodeScalars.append(scalar)
                // Inside a text of FTS5 a quote is written twice.
                if scalar == "\"" { phrase.unicodeScalars.append(scalar) }
            }
            return isPrefix ? "\"\(phrase)\" *" : "\"\(phrase)\""
        }
        return phrases.isEmpty ? nil : phrases.joined(separator: " ")
    }

    /// In bytes, and in words: what comes after is left out.
    package static let limit = 1_024
    private static let wordLimit = 32

    private static func hasUnspaced(_ text: String) -> Bool {
        // In UTF-8, all of them begin with at least this byte; most texts have none.
        text.utf8.contains { $0 >= 0xe3 } && text.unicodeScalars.contains(where: isUnspaced)
    }

    private static func spaced(_ text: String) -> String {
        guard hasUnspaced(text) else { return text }
        var spaced = ""
        for scalar in text.unicodeScalars {
            let isApart = isUnspaced(scalar)
            if isApart { spaced += " " }
            spaced.unicodeScalars.append(scalar)
            if isApart { spaced += " " }
        }
        return spaced
    }

    /// Kana, Hangul, and Han.
    private static func isUnspaced(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x3040...0x30ff, 0x31f0...0x31ff, 0x3400...0x4dbf, 0x4e00...0x9fff, 0xac00...0xd7af, 0xf900...0xfaff,
            0xff66...0xff9f, 0x20000...0x3ffff:
            true
        case _: false
        }
    }
}
