import CUV

/// A timer for short delays that come again and again: the kernel tells through a descriptor that the time has passed.
///
/// The loop waits no longer than until its next ``LoopTimer``. If that is due before the kernel's next tick (4 ms), each
/// wait sets and cancels the processor's timer, which costs each frame 12 µs on a virtual machine. This timer sets it once.
///
/// Releasing it stops it. Times are in milliseconds.
@EventLoop
package final class ShortTimer {
    private let fire: @EventLoop () -> Void
    private let descriptor = TimerDescriptor(bw_short_timer)
    /// Where there is no descriptor to be had.
    private var substitute: LoopTimer?
    package private(set) var isRunning = false

    package init(_ fire: @escaping @EventLoop () -> Void) {
        self.fire = fire
    }

    deinit {
        EventLoop.release { [descriptor] in descriptor.close() }
    }

    /// Fires once. Starting again moves the time.
    package func start(after delay: UInt64) {
        substitute = nil
        isRunning = true
        if !descriptor.isOpen { descriptor.open { [weak self] in self?.passed() } }
        if descriptor.isOpen, bw_short_timer_set(descriptor.number, CLong(clamping: max(delay, 1))) == 0 { return }
        let timer = LoopTimer { [weak self] in self?.passed() }
        substitute = timer
        timer.start(after: delay)
    }

    package func stop() {
        isRunning = false
        substitute = nil
        if descriptor.isOpen { _ = bw_short_timer_set(descriptor.number, 0) }
    }

    private func passed() {
        guard isRunning else { return }
        isRunning = false
        fire()
    }
}
