/// Texts of a peer that people will read: a name, a platform, the reason that a relay gives.
package enum DisplayText {
    /// Longest name that is kept, in Unicode scalars.
    package static let nameLimit = 80

    /// The text on one line, without control, formatting, direction and invisible characters, cut after `limit` scalars.
    /// Joiners and variation selectors stay inside emoji.
    ///
    /// Takes time for what it keeps, not for what it is given, up to 64 scalars that are left out for each one kept.
    package static func clean(_ text: String, limit: Int = nameLimit) -> String {
        var kept = String.UnicodeScalarView()
        var count = 0
        var pendingSpace = false
        // It stays if an emoji follows: at an end, or between letters, it makes a name that only looks like another.
        var pendingJoiner = false
        for scalar in text.unicodeScalars.prefix(max(0, limit) &* 64) {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator:
                // One space for any run, and none at either end.
                pendingSpace = count > 0
                continue
            case .format where scalar == "\u{200D}":
                pendingJoiner = !pendingSpace && kept.last.map(isOfEmoji) == true
                continue
            case .format, .surrogate, .privateUse, .unassigned: continue
            default: break
            }
            if isInvisible(scalar) {
                let isSelector = scalar == "\u{FE0F}" && !pendingSpace && !pendingJoiner
                guard isSelector, kept.last.map(isEmoji) == true else { continue }
            }
            let joins = pendingJoiner && !pendingSpace && isEmoji(scalar)
            let needed = pendingSpace || joins ? 2 : 1
            guard count + needed <= limit else { break }
            if pendingSpace { kept.append(" ") }
            if joins { kept.append("\u{200D}") }
            kept.append(scalar)
            count += needed
            pendingSpace = false
            pendingJoiner = false
        }
        return String(kept)
    }

    /// Takes a place, or none, and shows nothing: fillers, selectors, an empty Braille cell.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isDefaultIgnorableCodePoint || scalar == "\u{2800}"
    }

    /// Digits are emoji too, by their property.
    private static func isEmoji(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isEmoji && !scalar.isASCII }

    private static func isOfEmoji(_ scalar: Unicode.Scalar) -> Bool { isEmoji(scalar) || scalar == "\u{FE0F}" }
}
