/// A value that one thread waits for and another gives.
final class Answer<T: Sendable>: @unchecked Sendable {
    private let condition = Condition()
    // Under the condition's lock.
    private var value: T?

    func give(_ value: T) {
        condition.withLock {
            self.value = value
            condition.broadcast()
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
