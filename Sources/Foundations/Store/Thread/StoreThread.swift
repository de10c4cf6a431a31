import Glibc

/// The one thread of the process that touches SQLite.
///
/// Started when the first database is opened, never ended; what is enqueued earlier waits for that. All signals are
/// blocked in it: they are the host's.
package final class StoreThread: SerialExecutor {
    package static let shared = StoreThread()

    private let work = WorkQueue()

    private init() {}

    /// Is the caller on the store's thread?
    package static var isCurrent: Bool { shared.work.isServedByCaller }

    /// Starts the thread, once for the process. When that failed, the next call tries again.
    func start() throws(StoreError) {
        try work.start { queue in
            let context = Unmanaged.passRetained(queue)
            let result = spawn(context.toOpaque())
            if result != 0 { context.release() }
            return result
        }
    }

    /// Runs `body` on the thread, after everything that was posted before it.
    func post(_ body: @escaping @Sendable () -> Void) { work.append(.body(body)) }

    /// Runs `body` on the thread at that time.
    func post(at time: MonotonicTime, _ body: @escaping @Sendable () -> Void) { work.append(at: time, body) }

    package func enqueue(_ job: consuming ExecutorJob) { work.append(.job(UnownedJob(job))) }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    package func checkIsolated() { precondition(StoreThread.isCurrent, "not on the store's thread") }

    package func isIsolatingCurrentContext() -> Bool? { StoreThread.isCurrent }

    /// Never returns.
    fileprivate static func run(_ queue: WorkQueue) -> Never {
        queue.serve()
        while true {
            for item in queue.next() {
                switch item {
                case .body(let body): body()
                case .job(let job): job.runSynchronously(on: shared.asUnownedSerialExecutor())
                }
            }
        }
    }
}

private func spawn(_ context: UnsafeMutableRawPointer) -> Int32 {
    var blocked = sigset_t()
    var before = sigset_t()
    sigfillset(&blocked)
    // A thread inherits the mask of the one that starts it.
    pthread_sigmask(SIG_SETMASK, &blocked, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    var thread = pthread_t()
    let result = pthread_create(&thread, nil, { storeThreadMain($0) }, context)
    guard result == 0 else { return result }
    pthread_detach(thread)
    return 0
}

private func storeThreadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    StoreThread.run(Unmanaged<WorkQueue>.fromOpaque(context).takeRetainedValue())
}
