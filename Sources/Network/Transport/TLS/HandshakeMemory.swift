import CUV

/// Gives the memory of many TLS handshakes back to the system.
///
/// A handshake takes about 25 KiB more than the connection keeps. After thousands at once, as when a relay starts again,
/// these are holes in the heap, which would stay resident.
@EventLoop
final class HandshakeMemory {
    /// How often it looks whether handshakes go on, in milliseconds.
    private static let interval: UInt64 = 1_000
    /// In that time so many go on: they use the memory again.
    private static let busy = 64
    /// What fewer leave is not worth the time, which is about 10 ms for 15,000.
    private static let worthwhile = 256

    private var timer: LoopTimer?
    private var count = 0
    private var countBefore = 0

    func handshakeEnded() {
        count += 1
        guard timer == nil else { return }
        let timer = LoopTimer { [weak self] in self?.tick() }
        timer.start(after: Self.interval, every: Self.interval)
        self.timer = timer
    }

    private func tick() {
        defer { countBefore = count }
        guard count - countBefore < Self.busy else { return }
        timer = nil
        if count >= Self.worthwhile { bw_return_memory() }
        count = 0
    }
}
