/// A value that one thread waits for and another gives.
final class Answer<T: Sendable>: @unchecked Sendable {
    private let condition = Condition()
    // Under the condition's lock.
    private var value: T?

    func give(_ value: T) {
        condition.withLock { self.value = value }
        condition.broadcast()
    }

    /// `nil` = it was not given by then.
    func wait(until time: MonotonicTime) -> T? {
        condition.withLock {
            while value == nil, .now < time { condition.wait(until: time) }
            return value
        }
    }

    @discardableResult
    func wait() -> T {
        condition.withLock {
            while true {
                if let value { return value }
                condition.wait()
            }
        }
    }
}
