internal import Transport

/// Connections that have sent their bytes of this second: they are not read until the next one.
@EventLoop
final class ReadPauses {
    private var paused: [WebSocket] = []
    private lazy var timer = LoopTimer { [weak self] in self?.resume() }

    nonisolated init() {}

    /// - Parameter monotonic: the moment in which it was too much, in milliseconds.
    func pause(_ socket: WebSocket, at monotonic: UInt64) {
        socket.pauseReading(for: .rate)
        if paused.isEmpty { timer.start(after: 1_000 - monotonic % 1_000) }
        paused.append(socket)
    }

    private func resume() {
        let sockets = paused
        paused = []
        for socket in sockets { socket.resumeReading(for: .rate) }
    }
}
