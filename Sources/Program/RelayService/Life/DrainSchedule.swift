/// When which connections are closed while a relay drains: evenly over the time, so that not all of them dial another
/// relay at once.
package struct DrainSchedule: Sendable {
    /// Milliseconds for one connection at most: few connections need not take the whole time.
    package static let longestStep: UInt64 = 10

    private let total: Int
    private let duration: UInt64
    private var dismissed = 0

    /// - Parameter milliseconds: for all of them; 0 = at once.
    package init(connections: Int, milliseconds: UInt64) {
        total = connections
        duration = min(milliseconds, UInt64(max(0, connections)) * Self.longestStep)
    }

    /// How many to close now, at that time since the beginning.
    package mutating func due(after elapsed: UInt64) -> Int {
        let target: Int
        if elapsed >= duration {
            target = total
        } else {
            target = Int(Double(total) * Double(elapsed) / Double(duration))
        }
        defer { dismissed = max(dismissed, target) }
        return max(0, target - dismissed)
    }

    package var isOver: Bool { dismissed >= total }
}
