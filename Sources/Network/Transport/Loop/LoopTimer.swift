import CUV

/// A timer of the loop: once, or again and again.
///
/// libuv looks at its timers before it asks the kernel what has arrived. In a process that was held up, a deadline would
/// pass with the answer waiting in the socket, so a timer that is late fires after the next poll.
///
/// Letting go of it stops it. Times are in milliseconds.
@EventLoop
package final class LoopTimer {
    private let handle: TimerHandle

    package init(_ fire: @escaping @EventLoop () -> Void) {
        handle = TimerHandle(fire)
    }

    deinit {
        EventLoop.release { [handle] in handle.close() }
    }

    /// Fires after `delay`, then each `interval` (0 = once). Starting again moves the time.
    package func start(after delay: UInt64, every interval: UInt64 = 0) {
        handle.start(after: delay, every: interval)
    }

    package func stop() {
        handle.stop()
    }

    package var isRunning: Bool { handle.isRunning }
}

/// Owns libuv's timer, which outlives its owner until libuv has let go of it.
private final class TimerHandle: @unchecked Sendable {
    private let fire: @EventLoop () -> Void
    private var timer: UnsafeMutablePointer<uv_timer_t>?
    private var interval: UInt64 = 0
    /// When it fires next, by the loop's clock.
    private var due: UInt64 = 0
    private var waitsForPoll = false

    /// From here on a timer is late: far more than a wake-up takes in a process that runs.
    private static let late: UInt64 = 50

    init(_ fire: @escaping @EventLoop () -> Void) {
        self.fire = fire
    }

    @EventLoop
    var isRunning: Bool {
        guard let timer else { return false }
        return uv_is_active(UnsafeMutableRawPointer(timer).assumingMemoryBound(to: uv_handle_t.self)) != 0
    }

    @EventLoop
    func start(after delay: UInt64, every interval: UInt64) {
        let timer = self.timer ?? makeTimer()
        // libuv counts from the beginning of the wake-up; after a long one a short timer would fire at once.
        uv_update_time(LoopExecutor.shared.handle)
        self.interval = interval
        waitsForPoll = false
        arm(timer, after: delay)
    }

    @EventLoop
    private func arm(_ timer: UnsafeMutablePointer<uv_timer_t>, after delay: UInt64) {
        let (due, overflow) = uv_now(LoopExecutor.shared.handle).addingReportingOverflow(delay)
        self.due = overflow ? .max : due
        uv_timer_start(
            timer,
            { timer in
                guard let data = timer?.pointee.data else { return }
                let handle = Unmanaged<TimerHandle>.fromOpaque(data).takeUnretainedValue()
                EventLoop.onLoop { handle.passed() }
            }, delay, interval)
    }

    @EventLoop
    private func passed() {
        let now = uv_now(LoopExecutor.shared.handle)
        if !waitsForPoll, now > due, now - due >= Self.late, let timer {
            waitsForPoll = true
            // Without a delay it would fire in this wake-up.
            return arm(timer, after: 1)
        }
        waitsForPoll = false
        due = now &+ interval
        fire()
    }

    @EventLoop
    func stop() {
        guard let timer else { return }
        uv_timer_stop(timer)
    }

    @EventLoop
    private func makeTimer() -> UnsafeMutablePointer<uv_timer_t> {
        let timer = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
        uv_timer_init(LoopExecutor.shared.handle, timer)
        timer.pointee.data = Unmanaged.passRetained(self).toOpaque()
        self.timer = timer
        return timer
    }

    @EventLoop
    func close() {
        guard let timer else { return }
        self.timer = nil
        uv_close(UnsafeMutableRawPointer(timer).assumingMemoryBound(to: uv_handle_t.self)) { handle in
            guard let handle else { return }
            if let data = handle.pointee.data { Unmanaged<TimerHandle>.fromOpaque(data).release() }
            UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_timer_t.self).deallocate()
        }
    }
}
