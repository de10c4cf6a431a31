/// Counts of observations at or below each bound, as Prometheus has them.
package struct Histogram: Sendable, Equatable {
    /// Rising, in seconds.
    package let bounds: [Double]
    /// One more than bounds: the last one is for everything above.
    package private(set) var counts: [UInt64]
    package private(set) var sum = 0.0

    package static let commitSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
    package static let delaySeconds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]

    package init(_ bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    package mutating func observe(_ value: Double) {
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count] &+= 1
        sum += value
    }

    package var count: UInt64 { counts.reduce(0, &+) }
}
