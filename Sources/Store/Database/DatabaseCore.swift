import Synchronization

/// The part of a database that lives until its file is closed: the queue, and the connection.
final class DatabaseCore: Sendable {
    private struct Queue {
        var jobs: [any Job & Sendable] = []
        /// The thread has been asked to come.
        var isScheduled = false
        var isClosing = false
        var onClosed: [@Sendable () -> Void] = []
    }

    private let queue = Mutex(Queue())
    private let queueLimit: Int
    private let path: String
    /// Only on the store's thread. `nil` once it is closed.
    nonisolated(unsafe) private var connection: Connection?

    /// So many in one transaction: nobody waits for ever behind a writer that never stops.
    private static let batchLimit = 1_024

    init(_ connection: sending Connection, path: String, queueLimit: Int) {
        self.connection = connection
        self.path = path
        self.queueLimit = queueLimit
    }

    var waiting: Int { queue.withLock { $0.jobs.count } }

    private enum Submission { case refused(StoreError), queued(wake: Bool) }

    func submit(_ job: any Job & Sendable) {
        let submission: Submission = queue.withLock { queue in
            guard !queue.isClosing else {
                return .refused(StoreError(.closed, "the database is closed"))
            }
            guard queue.jobs.count < queueLimit else {
                return .refused(StoreError(.queueFull, "\(queueLimit) pieces of work wait for the disk already"))
            }
            queue.jobs.append(job)
            defer { queue.isScheduled = true }
            return .queued(wake: !queue.isScheduled)
        }
        switch submission {
        case .queued(wake: true): StoreThread.shared.post { self.drain() }
        case .queued(wake: false): break
        // Also a refusal is told on the store's thread: a `then` never runs inside the call that submits.
        case .refused(let error): StoreThread.shared.post { job.finish(failed: error) }
        }
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

    /// One batch, then back into the thread's line: other databases have their turn.
    private func drain() {
        let jobs = queue.withLock { queue in
            let batch = Array(queue.jobs.prefix(DatabaseCore.batchLimit))
            queue.jobs.removeFirst(batch.count)
            return batch
        }
        if !jobs.isEmpty { run(jobs) }
        enum Next { case again, rest, closed([@Sendable () -> Void]) }
        let next: Next = queue.withLock { queue in
            guard queue.jobs.isEmpty else { return .again }
            queue.isScheduled = false
            guard queue.isClosing else { return .rest }
            defer { queue.onClosed = [] }
            return .closed(queue.onClosed)
        }
        switch next {
        case .again: StoreThread.shared.post { self.drain() }
        case .rest: break
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
        if Batch(connection: connection).run(jobs) != nil { DatabaseFile(path: path).markSuspect() }
    }
}
