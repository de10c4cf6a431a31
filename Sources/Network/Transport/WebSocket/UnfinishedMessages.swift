internal import CUV

/// Watches the unfinished messages of a listener's WebSockets: ``ReceiveBudget`` decides, this type closes.
@EventLoop
final class UnfinishedMessages {
    private var budget: ReceiveBudget
    private let limits: ReceiveLimits
    /// Runs while anything is unfinished.
    private var timer: LoopTimer?
    /// Connections were closed for what they held, and the C library keeps that memory.
    private var hasClosed = false

    /// How often it looks for messages that are late, in milliseconds.
    private static let interval: UInt64 = 1_000

    init(_ limits: ReceiveLimits) {
        self.limits = limits
        budget = ReceiveBudget(limits)
    }

    var byteCount: Int { budget.byteCount }

    func hold(_ webSocket: WebSocket, message number: UInt32, bytes: Int) {
        let remote = webSocket.remote
        let losers = budget.hold(
            webSocket, of: remote.network, isLimited: !remote.isLoopback || limits.limitsLoopback, message: number,
            bytes: bytes, at: EventLoop.now)
        startOrStop()
        guard !losers.isEmpty else { return }
        hasClosed = true
        end(losers, 1013, TransportError(.receiveBudget, "unfinished messages took too much memory"))
    }

    private func tick() {
        if hasClosed {
            hasClosed = false
            // Large blocks that were grown leave holes in the heap, which would stay resident.
            bw_return_memory()
        }
        let late = budget.removeOverdue(at: EventLoop.now)
        if !late.isEmpty { hasClosed = true }
        startOrStop()
        end(
            late, 1008,
            TransportError(.unfinishedMessage, "a message was not complete within \(limits.time) ms"))
    }

    private func end(_ losers: [AnyObject], _ code: UInt16, _ error: TransportError) {
        // Not inside the call of one that is being read.
        EventLoop.later {
            for loser in losers { (loser as? WebSocket)?.expel(code, error) }
        }
    }

    private func startOrStop() {
        let isNeeded = !budget.isEmpty || hasClosed
        guard isNeeded != (timer != nil) else { return }
        guard isNeeded else {
            timer = nil
            return
        }
        let timer = LoopTimer { [weak self] in self?.tick() }
        timer.start(after: Self.interval, every: Self.interval)
        self.timer = timer
    }
}

/// The state of a WebSocket's message that is not complete yet.
struct Intake {
    let unfinished: UnfinishedMessages?
    /// Whether ``unfinished`` counts something of it.
    var isCounted = false
    /// When minor frames were last forgiven, in monotonic milliseconds.
    var forgivenAt: UInt64 = 0
}

extension WebSocket {
    /// Something of a message has come and the rest has not, or that has changed.
    func countUnfinished() {
        guard let unfinished = intake.unfinished, connection != nil else { return }
        let bytes = decoder.heldBytes
        intake.isCounted = bytes > 0
        unfinished.hold(self, message: decoder.unfinished, bytes: bytes)
    }

    func releaseUnfinished() {
        guard intake.isCounted else { return }
        intake.isCounted = false
        intake.unfinished?.hold(self, message: decoder.unfinished, bytes: 0)
    }

    /// As many as the time since the last look allows.
    func forgiveMinorFrames() {
        let now = EventLoop.now
        let passed = now &- intake.forgivenAt
        let forgiven = passed >= 5_000 ? decoder.minorFrames : Int(passed) * options.maximumMinorFrames / 1_000
        guard forgiven > 0 else { return }
        decoder.minorFrames = max(0, decoder.minorFrames - forgiven)
        intake.forgivenAt = now
    }
}
