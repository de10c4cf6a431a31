import Synchronization

/// The part of a database that lives until its file is closed: the queue, and the connection.
final class DatabaseCore: Sendable {
    /// When a job is due.
    enum Due {
        /// As soon as possible.
        case now
        /// With the next transaction, or at this time.
        case by(MonotonicTime)
        /// With the next transaction, or at the next ``DatabaseCore/flush()``.
        case withNext

        fileprivate var time: MonotonicTime? { if case .by(let time) = self { time } else { nil } }
        fileprivate var isNow: Bool { if case .now = self { true } else { false } }
    }

    private struct Entry {
        let job: any Job & Sendable
        var due: Due
    }

    private struct Queue {
        /// In the order of submission, deferred jobs among the others.
        var entries: [Entry] = []
        /// The thread has been asked to drain the queue now.
        var isScheduled = false
        /// The thread will look after deferred jobs at this time; `nil` = it has not been asked to.
        var timerAt: MonotonicTime?
        var isClosing = false
        var onClosed: [@Sendable () -> Void] = []
    }

    private let queue = Mutex(Queue())
    private let queueLimit: Int
    private let path: String
    /// What each transaction must leave free; `nil` = there is room enough.
    private let room: DiskRoom?
    /// Only on the store's thread. `nil` once it is closed.
    nonisolated(unsafe) private var connection: Connection?

    /// At most this many jobs share a transaction, so that none waits forever behind a writer that never stops.
    private static let batchLimit = 1_024

    init(_ connection: sending Connection, path: String, maximumBytes: Int64, queueLimit: Int) {
        self.connection = connection
        self.path = path
        let room = DiskRoom(path: path, maximumBytes: maximumBytes)
        self.room = room.isLimited ? room : nil
        self.queueLimit = queueLimit
    }

    var waiting: Int { queue.withLock { $0.entries.count } }

    private enum Submission { case refused(StoreError), queued, wake, wakeAt(MonotonicTime) }

    func submit(_ job: any Job & Sendable, _ due: Due = .now) {
        let submission: Submission = queue.withLock { queue in
            guard !queue.isClosing else {
                return .refused(StoreError(.closed, "the database is closed"))
            }
            guard queue.entries.count < queueLimit else {
                return .refused(StoreError(.queueFull, "\(queueLimit) jobs already wait for the disk"))
            }
            queue.entries.append(Entry(job: job, due: due))
            guard !queue.isScheduled else { return .queued }
            switch due {
            case .now:
                queue.isScheduled = true
                return .wake
            case .by(let time):
                guard queue.timerAt.map({ time < $0 }) ?? true else { return .queued }
                queue.timerAt = time
                return .wakeAt(time)
            case .withNext: return .queued
            }
        }
        switch submission {
        case .queued: break
        case .wake: StoreThread.shared.post { self.drain() }
        case .wakeAt(let time): StoreThread.shared.post(at: time) { self.timerFired(at: time) }
        // Refusals are delivered on the store's thread, too: a `then` never runs inside the call that submits.
        case .refused(let error): StoreThread.shared.post { job.finish(failed: error) }
        }
    }

    /// Runs deferred jobs now.
    func flush() {
        let wake = queue.withLock { queue in
            guard !queue.entries.isEmpty else { return false }
            // The thread may be about to rest after an earlier batch: it looks for what is due first.
            for index in queue.entries.indices { queue.entries[index].due = .now }
            defer { queue.isScheduled = true }
            return !queue.isScheduled
        }
        if wake { StoreThread.shared.post { self.drain() } }
    }

    func close(_ then: @escaping @Sendable () -> Void) {
        let wake = queue.withLock { queue in
            queue.isClosing = true
            queue.onClosed.append(then)
            defer { queue.isScheduled = true }
            return !queue.isScheduled
        }
        if wake { StoreThread.shared.post { self.drain() } }
    }

    private func timerFired(at time: MonotonicTime) {
        let drains = queue.withLock { queue in
            // An earlier timer has taken the place of this one.
            guard queue.timerAt == time else { return false }
            queue.timerAt = nil
            guard !queue.isScheduled, !queue.entries.isEmpty else { return false }
            queue.isScheduled = true
            return true
        }
        if drains { drain() }
    }

    private enum Next { case again, rest, wakeAt(MonotonicTime), closed([@Sendable () -> Void]) }

    /// Runs one batch, then goes back to the end of the thread's queue, so that other databases have their turn.
    private func drain() {
        let jobs = queue.withLock { queue in
            let batch = queue.entries.prefix(DatabaseCore.batchLimit).map(\.job)
            queue.entries.removeFirst(batch.count)
            return batch
        }
        if !jobs.isEmpty { run(jobs) }
        let next: Next = queue.withLock { queue in
            guard queue.entries.isEmpty || !queue.isClosing else { return .again }
            if queue.entries.contains(where: \.due.isNow) { return .again }
            queue.isScheduled = false
            if let deadline = queue.entries.lazy.compactMap(\.due.time).min() {
                guard queue.timerAt.map({ deadline < $0 }) ?? true else { return .rest }
                queue.timerAt = deadline
                return .wakeAt(deadline)
            }
            guard queue.isClosing else { return .rest }
            defer { queue.onClosed = [] }
            return .closed(queue.onClosed)
        }
        switch next {
        case .again: StoreThread.shared.post { self.drain() }
        case .rest: break
        case .wakeAt(let time): StoreThread.shared.post(at: time) { self.timerFired(at: time) }
        case .closed(let handlers):
            connection = nil
            for handler in handlers { handler() }
        }
    }

    private func run(_ jobs: [any Job & Sendable]) {
        guard let connection else {
            let error = StoreError(.closed, "the database is closed")
            for job in jobs { job.finish(failed: error) }
            return
        }
        // Without it the next ones may fail, and say why.
        try? room?.boundFile(of: connection)
        if Batch(connection: connection).run(jobs) != nil { DatabaseFile(path: path).markSuspect() }
    }
}
