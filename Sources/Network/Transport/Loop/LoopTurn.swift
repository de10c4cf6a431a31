import CUV

/// The work that one wake-up of the loop defers to its end.
@EventLoop
final class LoopTurn {
    /// How often the kernel was asked what has arrived. On a slow machine timers fire several times in between.
    private(set) var polls: UInt64 = 0
    /// Calls put off by ``EventLoop/later(_:)``.
    var deferred: [@EventLoop () -> Void] = []
    /// Connections with bytes to send; each stands here once.
    private var dirty: [Connection] = []
    /// Those of them whose bytes are being sent.
    private var flushing: [Connection] = []
    private nonisolated(unsafe) let prepare = UnsafeMutablePointer<uv_prepare_t>.allocate(capacity: 1)
    private nonisolated(unsafe) let check = UnsafeMutablePointer<uv_check_t>.allocate(capacity: 1)

    /// What a socket's bytes are read into; the consumer works on them in place.
    private(set) lazy var readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 64)
    /// What TLS decrypts into.
    private(set) lazy var plainBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 64)

    let serverFrames = FrameEncoder(.server)
    let clientFrames = FrameEncoder(.client)
    let frameReaders = FrameReaderPool()

    nonisolated init() {}

    /// Finishes each wake-up twice: in the check phase what the poll brought (sockets, posted work), in the prepare
    /// phase what timers and closing handles brought, so that nothing waits for the next event to be sent.
    nonisolated func attach(to loop: UnsafeMutablePointer<uv_loop_t>) {
        uv_prepare_init(loop, prepare)
        uv_prepare_start(prepare) { _ in EventLoop.onLoop { LoopExecutor.shared.turn.finish() } }
        uv_check_init(loop, check)
        uv_check_start(check) { _ in EventLoop.onLoop { LoopExecutor.shared.turn.didPoll() } }
    }

    func markDirty(_ connection: Connection) {
        dirty.append(connection)
    }

    private func didPoll() {
        polls &+= 1
        finish()
    }

    private func finish() {
        // Flushing may put calls off, and these may write again.
        while !deferred.isEmpty || !dirty.isEmpty {
            if !deferred.isEmpty {
                let calls = deferred
                deferred.removeAll()
                for call in calls { call() }
            }
            // The two lists change places, so that their memory serves every wake-up.
            swap(&dirty, &flushing)
            for connection in flushing { connection.flush() }
            flushing.removeAll(keepingCapacity: flushing.capacity <= 1_024)
        }
    }
}
