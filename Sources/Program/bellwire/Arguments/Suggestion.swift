/// Suggests the nearest known name for a misspelt one.
enum Suggestion {
    /// The word that is at most two edits away from what was written; the nearest, and among equals the first.
    static func nearest(to written: String, in words: [String]) -> String? {
        let near = words.map { (word: $0, distance: distance(written, $0)) }.min { $0.distance < $1.distance }
        guard let near, near.distance <= 2 || near.word.hasPrefix(written) && written.count > 3 else { return nil }
        return near.word
    }

    /// Levenshtein's distance. The words are a user's own and short; longer ones are not compared.
    private static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left), Array(right))
        guard left.count <= 32, right.count <= 32 else { return Int.max }
        var row = Array(0...right.count)
        for (i, character) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, other) in right.enumerated() {
                let substituted = diagonal + (character == other ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(substituted, diagonal + 1, row[j] + 1)
            }
        }
        return row[right.count]
    }
}
