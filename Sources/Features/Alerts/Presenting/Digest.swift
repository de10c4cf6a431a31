import JSON

/// One alert that summarizes several.
package enum Digest {
    /// So many titles are named.
    package static let lines = 5
    /// A title has at most so many characters there.
    package static let width = 100

    /// "3 notifications during quiet hours", and their titles.
    ///
    /// - Parameters:
    ///   - held: the newest first; the first few are enough.
    ///   - count: how many there are.
    package static func content(
        of held: [AlertContent], count: Int64, hold: AlertDecision.Hold, in language: AlertLanguage = .english
    ) -> AlertContent {
        let count = max(count, Int64(held.count))
        let named = held.prefix(lines)
        var body = named.map { line($0.title) }.joined(separator: "\n")
        let rest = count - Int64(named.count)
        if rest > 0 { body += named.isEmpty ? "" : "\n\(language.more(rest))" }
        return AlertContent(
            title: language.digest(count, hold), body: body, sound: "default",
            userInfo: ["digest": .string(hold.rawValue), "count": .integer(count)],
            // Urgent alerts are held back only if there is no room for them.
            level: named.contains { $0.level == .timeSensitive } ? .timeSensitive : .active)
    }

    /// The one digest of each kind: a newer one takes its place.
    package static func id(_ hold: AlertDecision.Hold) -> AlertID { AlertID("bellwire.digest.\(hold.rawValue)") }

    /// How many alerts a digest summarizes, if it is one; a program could have forged it.
    static func count(_ row: AlertRow) -> Int64? {
        guard row.key.desktop == nil, AlertDecision.Hold.allCases.contains(where: { row.key.id == id($0) }) else {
            return nil
        }
        return min(max(1, row.content.userInfo["count"]?.integer ?? 1), 1_000_000)
    }

    /// A title that is one line, however it was written.
    private static func line(_ title: String) -> String {
        var line = ""
        var length = 0
        var isCut = false
        for scalar in title.unicodeScalars {
            guard length < width else {
                isCut = true
                break
            }
            let isSpace = scalar.value < 0x20 || 0x7f...0x9f ~= scalar.value || 0x2028...0x2029 ~= scalar.value
            line.unicodeScalars.append(isSpace ? " " : scalar)
            length += 1
        }
        return isCut ? line + "…" : line
    }
}
