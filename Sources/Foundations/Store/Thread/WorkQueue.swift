import Glibc

/// The store thread's work, in order, and its timers.
final class WorkQueue: @unchecked Sendable {
    enum Item {
        case body(@Sendable () -> Void)
        case job(UnownedJob)
    }

    private let condition = Condition()
    // Under the condition's lock.
    private var items: [Item] = []
    /// A handful: at most one for each open database, and those that an earlier one has replaced.
    private var timers: [(time: MonotonicTime, body: @Sendable () -> Void)] = []
    private var isStarted = false
    private var server: pthread_t?
    /// The thread waits: whoever adds work wakes it.
    private var isAsleep = false

    func start(_ spawn: (WorkQueue) -> Int32) throws(StoreError) {
        let result = condition.withLock { () -> Int32 in
            guard !isStarted else { return 0 }
            let result = spawn(self)
            isStarted = result == 0
            return result
        }
        guard result == 0 else {
            throw StoreError(.thread, "cannot start the store thread: \(String(cString: strerror(result)))")
        }
    }

    /// Says that the calling thread is the one that does the work.
    func serve() { condition.withLock { server = pthread_self() } }

    var isServedByCaller: Bool {
        condition.withLock { server.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }

    func append(_ item: Item) {
        let wakes = condition.withLock {
            items.append(item)
            return isAsleep && items.count == 1
        }
        if wakes { condition.broadcast() }
    }

    /// Appends `body` at that time.
    func append(at time: MonotonicTime, _ body: @escaping @Sendable () -> Void) {
        let wakes = condition.withLock {
            let isFirst = timers.allSatisfy { time < $0.time }
            timers.append((time, body))
            return isAsleep && isFirst
        }
        if wakes { condition.broadcast() }
    }

    /// Everything that is due; sleeps until there is something.
    func next() -> [Item] {
        condition.withLock {
            while true {
                let nextTime = takeDueTimers()
                guard items.isEmpty else { break }
                isAsleep = true
                condition.wait(until: nextTime)
                isAsleep = false
            }
            defer { items = [] }
            return items
        }
    }

    /// Moves timers that are due to the items. Returns when the next one is.
    private func takeDueTimers() -> MonotonicTime? {
        guard !timers.isEmpty else { return nil }
        let now = MonotonicTime.now
        items += timers.lazy.filter { $0.time <= now }.map { .body($0.body) }
        timers.removeAll { $0.time <= now }
        return timers.lazy.map(\.time).min()
    }
}
