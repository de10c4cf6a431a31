/// The frames of one session that have come: each counts once. In memory only (WireSessions, "Frames").
///
/// Remembers the last 4,096 counters. A counter may jump: what lies between may still come, as long as the window
/// reaches back to it.
struct SessionWindow: Sendable, Equatable {
    static let width: UInt64 = 4_096

    /// How many counters lie at or below the highest one.
    private var end: UInt64 = 0
    /// One bit a counter, at its remainder by the width.
    private var bits = [UInt64](repeating: 0, count: Int(width) / 64)

    /// Would ``record(_:)`` take it?
    func accepts(_ counter: UInt64) -> Bool {
        if counter >= end { return counter < .max }
        return end - counter <= Self.width && bits[word(counter)] & mask(counter) == 0
    }

    /// `false` if the counter has come before or is too old to tell.
    mutating func record(_ counter: UInt64) -> Bool {
        guard accepts(counter) else { return false }
        if counter >= end {
            if counter - end >= Self.width {
                for index in bits.indices { bits[index] = 0 }
            } else {
                // Those between take the places of those that fall out.
                for skipped in end..<counter { bits[word(skipped)] &= ~mask(skipped) }
            }
            end = counter + 1
        }
        bits[word(counter)] |= mask(counter)
        return true
    }

    private func word(_ counter: UInt64) -> Int { Int(counter % Self.width) / 64 }
    private func mask(_ counter: UInt64) -> UInt64 { 1 << (counter % 64) }
}
