/// How long to wait before the next attempt: 0.5, 1, 2, 5, then always 10 seconds at most, with full jitter.
package struct Backoff: Sendable, Equatable {
    /// The most that each attempt waits, in milliseconds.
    package static let ceilings: [UInt64] = [500, 1_000, 2_000, 5_000, 10_000]

    /// Attempts since the last ``reset()``, as far as they still change anything.
    package private(set) var step = 0

    package init() {}

    /// The wait before the next attempt, in milliseconds: evenly drawn up to this step's ceiling.
    package mutating func next(using generator: inout some RandomNumberGenerator) -> UInt64 {
        let ceiling = Self.ceilings[min(step, Self.ceilings.count - 1)]
        step = min(step + 1, Self.ceilings.count - 1)
        return UInt64.random(in: 0...ceiling, using: &generator)
    }

    /// The next wait may be at least as long as that of `step`: for when everybody was sent away at once.
    package mutating func raise(to step: Int) {
        self.step = min(max(self.step, step), Self.ceilings.count - 1)
    }

    package mutating func reset() { step = 0 }
}
