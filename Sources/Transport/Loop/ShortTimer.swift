import CUV
import Glibc

/// A timer for delays of a few milliseconds that come again and again. The kernel tells through a descriptor that it has
/// passed.
///
/// The loop waits no longer than until its next ``LoopTimer``. If that is due before the kernel's next tick (4 ms), each
/// wait sets and cancels the processor's timer, which costs each frame 12 us on a virtual machine. This timer sets it once.
///
/// Letting go of it stops it. Times are in milliseconds.
@EventLoop
package final class ShortTimer {
    private let fire: @EventLoop () -> Void
    private let descriptor = Descriptor()
    /// Where there is no descriptor to be had.
    private var substitute: LoopTimer?
    private var isArmed = false

    package init(_ fire: @escaping @EventLoop () -> Void) {
        self.fire = fire
    }

    deinit {
        let descriptor = descriptor
        if EventLoop.isCurrent {
            EventLoop.onLoop { descriptor.close() }
        } else {
            EventLoop.post { descriptor.close() }
        }
    }

    /// Fires once. Starting again moves the time.
    package func start(after delay: UInt64) {
        substitute = nil
        isArmed = true
        if descriptor.arm(after: max(delay, 1), { [weak self] in self?.passed() }) { return }
        let timer = LoopTimer { [weak self] in self?.passed() }
        substitute = timer
        timer.start(after: delay)
    }

    package func stop() {
        isArmed = false
        substitute = nil
        descriptor.disarm()
    }

    package var isRunning: Bool { isArmed }

    private func passed() {
        guard isArmed else { return }
        isArmed = false
        fire()
    }
}

/// The kernel's timer.
private final class Descriptor: @unchecked Sendable {
    private var timer: CInt = -1
    private var poll: LoopPoll?

    nonisolated init() {}

    @EventLoop
    func arm(after delay: UInt64, _ passed: @escaping @EventLoop () -> Void) -> Bool {
        if timer < 0 { open(passed) }
        return timer >= 0 && bw_short_timer_set(timer, CLong(clamping: delay)) == 0
    }

    @EventLoop
    func disarm() {
        if timer >= 0 { _ = bw_short_timer_set(timer, 0) }
    }

    @EventLoop
    private func open(_ passed: @escaping @EventLoop () -> Void) {
        let timer = bw_short_timer()
        guard timer >= 0 else { return }
        self.timer = timer
        poll = try? LoopPoll(timer) { _ in
            // Armed or disarmed since it was readable: there is nothing to read then.
            var count: UInt64 = 0
            if read(timer, &count, MemoryLayout.size(ofValue: count)) > 0 { passed() }
        }
        guard let poll else { return close() }
        poll.watch(.readable)
    }

    @EventLoop
    func close() {
        poll?.stop()
        poll = nil
        if timer >= 0 { Glibc.close(timer) }
        timer = -1
    }
}
