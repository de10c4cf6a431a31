/// Texts of a peer that people will read: a name, a platform, the reason that a relay gives.
package enum DisplayText {
    /// Longest name that is kept, in Unicode scalars.
    package static let nameLimit = 80

    /// The text on one line, without control, formatting and direction characters, cut after `limit` scalars.
    ///
    /// Takes time for what it keeps, not for what it is given, up to 64 scalars that are left out for each one kept.
    package static func clean(_ text: String, limit: Int = nameLimit) -> String {
        var kept = String.UnicodeScalarView()
        var count = 0
        var pendingSpace = false
        for scalar in text.unicodeScalars.prefix(max(0, limit) &* 64) {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator:
                // One space for any run, and none at either end.
                pendingSpace = count > 0
                continue
            case .format where scalar != "\u{200D}":  // the joiner inside one emoji stays
                continue
            case .surrogate, .privateUse, .unassigned:
                continue
            default: break
            }
            let needed = pendingSpace ? 2 : 1
            guard count + needed <= limit else { break }
            if pendingSpace { kept.append(" ") }
            kept.append(scalar)
            count += needed
            pendingSpace = false
        }
        return String(kept)
    }
}
