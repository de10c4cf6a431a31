import CUV

/// The one I/O thread of the process: a libuv loop that is the executor of everything on the network.
///
/// It starts at first use and is never destroyed. Work comes in by ``post(_:)`` from any thread and by actor calls;
/// both share one queue, first in, first out. What the network objects write in one wake-up leaves at its end.
@globalActor
package actor EventLoop {
    package static let shared = EventLoop()

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        LoopExecutor.shared.asUnownedSerialExecutor()
    }

    private init() {}

    /// Starts the loop now instead of at first use, so that a lack of file descriptors is an error and not a crash.
    package nonisolated static func start() throws(TransportError) {
        try LoopExecutor.shared.start()
    }

    /// Runs `work` on the loop thread, after everything posted before it. From any thread; never runs it at once.
    package nonisolated static func post(_ work: @escaping @Sendable @EventLoop () -> Void) {
        LoopExecutor.shared.enqueue(work)
    }

    /// Whether the caller is on the loop thread.
    package nonisolated static var isCurrent: Bool { LoopExecutor.shared.isCurrent }

    /// Monotonic milliseconds, as of the beginning of this wake-up or the last start of a timer in it.
    @EventLoop
    package static var now: UInt64 { LoopExecutor.shared.now }

    /// Calls `body` as code of the loop. The caller must be on the loop thread; anywhere else is a programming error.
    package nonisolated static func assumeIsolated<T, Failure>(
        _ body: @escaping @EventLoop () throws(Failure) -> T
    ) throws(Failure) -> T {
        precondition(isCurrent, "not on the event loop's thread")
        return try onLoop(body)
    }

    /// ``assumeIsolated(_:)`` for libuv's callbacks, which come on the loop thread and nowhere else.
    ///
    /// `body` is called before this returns. It is escaping because a closure that may not escape can only be cast
    /// inside `withoutActuallyEscaping`, for which the compiler puts the length of this file's path into the release.
    nonisolated static func onLoop<T, Failure>(
        _ body: @escaping @EventLoop () throws(Failure) -> T
    ) throws(Failure) -> T {
        // The isolation is a fact of the thread; the function type carries it for the compiler only.
        try unsafeBitCast(body, to: (() throws(Failure) -> T).self)()
    }

    /// For a `deinit`, which may run on any thread: calls `close` at once on the loop thread, and later from any other.
    nonisolated static func release(_ close: @escaping @Sendable @EventLoop () -> Void) {
        if isCurrent { onLoop(close) } else { post(close) }
    }

    /// Runs `work` later in this wake-up, before its bytes are sent: for calls that must not come inside another call.
    @EventLoop
    package static func later(_ work: @escaping @EventLoop () -> Void) {
        LoopExecutor.shared.turn.deferred.append(work)
    }
}
