import Glibc

/// What waits for the store's thread, in order.
final class WorkQueue: @unchecked Sendable {
    enum Item {
        case body(@Sendable () -> Void)
        case job(UnownedJob)
    }

    private let condition = Condition()
    // Under the condition's lock.
    private var items: [Item] = []
    private var isStarted = false
    private var server: pthread_t?

    func start(_ spawn: (WorkQueue) -> Int32) throws(StoreError) {
        let result = condition.withLock { () -> Int32 in
            guard !isStarted else { return 0 }
            let result = spawn(self)
            isStarted = result == 0
            return result
        }
        guard result == 0 else {
            throw StoreError(.thread, "the store's thread could not be started: \(String(cString: strerror(result)))")
        }
    }

    /// Says that the calling thread is the one that does the work.
    func serve() { condition.withLock { server = pthread_self() } }

    var isServedByCaller: Bool {
        condition.withLock { server.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }

    func append(_ item: Item) {
        condition.withLock {
            items.append(item)
            if items.count == 1 { condition.broadcast() }
        }
    }

    /// Everything that waits; sleeps until there is something.
    func next() -> [Item] {
        condition.withLock {
            while items.isEmpty { condition.wait() }
            defer { items = [] }
            return items
        }
    }
}
