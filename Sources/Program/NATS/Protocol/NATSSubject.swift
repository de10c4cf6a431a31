/// The rules for subjects: tokens of visible characters, separated by dots.
package enum NATSSubject {
    /// Longer ones are refused: with its other words a control line has at most 4,096 bytes.
    package static let maximumLength = 1_024

    /// Whether one can publish to it: no wildcards.
    package static func isLiteral(_ subject: String) -> Bool { isValid(subject, permitsWildcards: false) }

    /// Whether one can subscribe to it: `*` stands for one token, a last `>` for one or more.
    package static func isPattern(_ subject: String) -> Bool { isValid(subject, permitsWildcards: true) }

    private static func isValid(_ subject: String, permitsWildcards: Bool) -> Bool {
        let bytes = Array(subject.utf8)
        guard (1...maximumLength).contains(bytes.count), bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            return false
        }
        let tokens = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        for (index, token) in tokens.enumerated() {
            guard !token.isEmpty else { return false }
            guard token.contains(where: { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: ">") }) else { continue }
            guard permitsWildcards, token.count == 1 else { return false }
            if token.first == UInt8(ascii: ">"), index != tokens.count - 1 { return false }
        }
        return true
    }
}
