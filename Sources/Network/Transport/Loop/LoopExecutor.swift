import CLinux
import CUV
import Glibc
import Synchronization

/// The executor behind ``EventLoop``: a queue that any thread may fill and the loop thread empties.
final class LoopExecutor: SerialExecutor {
    static let shared = LoopExecutor()

    private enum Entry {
        case job(UnownedJob)
        case work(@Sendable @EventLoop () -> Void)
    }

    private struct Inbox {
        var entries: [Entry] = []
        /// Whether the loop has been told of the entries: one wake-up serves all that come before it.
        var isSignalled = false
    }

    /// How far the start came; a failed one goes on from there.
    private enum Stage { case none, prepared, running }

    private let inbox = Mutex(Inbox())
    private let stage = Mutex(Stage.none)
    private let thread = Atomic<UInt>(0)
    private nonisolated(unsafe) let loop: UnsafeMutablePointer<uv_loop_t>
    /// Watches `descriptor`. Not libuv's own handle for this, which spins until the thread that has woken it goes on.
    private nonisolated(unsafe) let wakeUp: UnsafeMutablePointer<uv_poll_t>
    /// Written to wake the loop; never closed, like the loop. -1 until the loop is prepared.
    private let descriptor = Atomic<CInt>(-1)
    /// Runs what the loop thread itself has enqueued: without a wake-up, after the sockets.
    private nonisolated(unsafe) let idle: UnsafeMutablePointer<uv_idle_t>
    /// The loop thread's own lists.
    let turn = LoopTurn()

    private init() {
        loop = .allocate(capacity: 1)
        wakeUp = .allocate(capacity: 1)
        idle = .allocate(capacity: 1)
    }

    var isCurrent: Bool { thread.load(ordering: .relaxed) == pthread_self() }

    /// Milliseconds of `uv_now`. On the loop thread only.
    var now: UInt64 { uv_now(loop) }

    /// The loop for libuv's `init` calls. On the loop thread only.
    var handle: UnsafeMutablePointer<uv_loop_t> { loop }

    // MARK: The queue

    func enqueue(_ job: consuming ExecutorJob) {
        enqueue(.job(UnownedJob(job)))
    }

    func enqueue(_ work: @escaping @Sendable @EventLoop () -> Void) {
        enqueue(.work(work))
    }

    private func enqueue(_ entry: sending Entry) {
        let mustSignal = inbox.withLock { inbox in
            inbox.entries.append(entry)
            defer { inbox.isSignalled = true }
            return !inbox.isSignalled
        }
        guard mustSignal else { return }
        if isCurrent {
            // The loop does not sleep while it has an idle handle.
            uv_idle_start(idle) { idle in
                uv_idle_stop(idle)
                LoopExecutor.shared.drain()
            }
            return
        }
        do {
            try start()
        } catch {
            // Work without a loop can neither run nor be refused. `EventLoop.start()` is for callers who want the error.
            fatalError(error.message)
        }
        var one: UInt64 = 1
        // The loop reads it at each wake-up, so it can't be full.
        _ = write(descriptor.load(ordering: .acquiring), &one, MemoryLayout<UInt64>.size)
    }

    private func wokenUp() {
        var count: UInt64 = 0
        _ = read(descriptor.load(ordering: .relaxed), &count, MemoryLayout<UInt64>.size)
        drain()
    }

    fileprivate func drain() {
        // One take for each wake-up: what comes meanwhile waits for the next, so that sockets get their turn.
        let entries = inbox.withLock { inbox in
            inbox.isSignalled = false
            let entries = inbox.entries
            inbox.entries = []
            return entries
        }
        for entry in entries {
            switch entry {
            case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
            case .work(let work): EventLoop.onLoop { work() }
            }
        }
    }

    // MARK: Isolation

    func checkIsolated() {
        precondition(isCurrent, "not on the event loop's thread")
    }

    func isIsolatingCurrentContext() -> Bool? { isCurrent }

    // MARK: The thread

    /// Starts the loop and its thread, once.
    func start() throws(TransportError) {
        let result: CInt = stage.withLock { stage in
            if stage == .none {
                let result = prepareLoop()
                guard result == 0 else { return result }
                stage = .prepared
            }
            if stage == .prepared {
                let result = runLoop()
                guard result == 0 else { return result }
                stage = .running
            }
            return 0
        }
        guard result == 0 else { throw TransportError(uv: result, .system, "cannot start the event loop") }
    }

    private func prepareLoop() -> CInt {
        var result = uv_loop_init(loop)
        guard result == 0 else { return result }
        let descriptor = linux_eventfd()
        result = descriptor < 0 ? -errno : uv_poll_init(loop, wakeUp, descriptor)
        guard result == 0 else {
            if descriptor >= 0 { close(descriptor) }
            uv_loop_close(loop)
            return result
        }
        self.descriptor.store(descriptor, ordering: .releasing)
        uv_poll_start(wakeUp, CInt(UV_READABLE.rawValue)) { _, _, _ in LoopExecutor.shared.wokenUp() }
        uv_idle_init(loop, idle)
        turn.attach(to: loop)
        return 0
    }

    private func runLoop() -> CInt {
        -startThread(named: "bellwire-io") {
            LoopExecutor.shared.thread.store(pthread_self(), ordering: .relaxed)
            // Its prepare handle never closes, so the loop never runs out of work.
            uv_run(LoopExecutor.shared.loop, UV_RUN_DEFAULT)
        }
    }
}
