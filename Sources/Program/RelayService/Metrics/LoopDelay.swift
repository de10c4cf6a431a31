internal import Glibc
internal import Transport

/// How late the event loop runs: a timer each 100 ms, and how long after its time it fires.
@EventLoop
final class LoopDelay {
    private static let interval: UInt64 = 100

    private(set) var histogram = Histogram(Histogram.delaySeconds)
    private var timer: LoopTimer?
    private var last: Double

    init() {
        last = Self.seconds
        let timer = LoopTimer { [weak self] in self?.fired() }
        timer.start(after: Self.interval, every: Self.interval)
        self.timer = timer
    }

    private func fired() {
        let now = Self.seconds
        histogram.observe(max(0, now - last - Double(Self.interval) / 1_000))
        last = now
    }

    private static var seconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
