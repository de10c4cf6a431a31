/// Those who wait for one and the same thing, each until a deadline of their own.
///
/// Moments are the loop's milliseconds. Each leaves exactly once.
package struct Waiters {
    private struct Waiter {
        let deadline: UInt64
        let then: Then
    }

    private var waiters: [Waiter] = []

    package init() {}

    package var isEmpty: Bool { waiters.isEmpty }
    package var nextDeadline: UInt64? { waiters.lazy.map(\.deadline).min() }

    package mutating func add(until deadline: UInt64, _ then: @escaping Then) {
        waiters.append(Waiter(deadline: deadline, then: then))
    }

    /// Removes expired waiters, in order of arrival.
    package mutating func takeExpired(now: UInt64) -> [Then] {
        defer { waiters.removeAll { $0.deadline <= now } }
        return waiters.filter { $0.deadline <= now }.map(\.then)
    }

    package mutating func takeAll() -> [Then] {
        defer { waiters = [] }
        return waiters.map(\.then)
    }
}
