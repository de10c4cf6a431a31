/// The pings of one WebSocket: the regular ones, and those its owner asks for.
@EventLoop
final class Keepalive {
    private struct Asked {
        let id: UInt64
        let timer: LoopTimer
        let then: @EventLoop (Bool) -> Void
        /// How often the time was over already, and at which of the loop's polls last.
        var overdue = 0
        var poll: UInt64?
    }

    private unowned let webSocket: WebSocket
    private var machine: KeepaliveStateMachine
    private var timer: LoopTimer?
    private var lastID: UInt64 = 0
    private var regularID: UInt64 = 0
    private var asked: [Asked] = []
    /// The loop's poll before the last look at an overdue pong. Only what comes after another one tells anything new.
    private var lastPoll: UInt64?
    /// How long the next look waits, in milliseconds, if the kernel was not asked since the last one.
    private static let pollPause: UInt64 = 10
    /// What had moved when it was last looked at.
    private var received: UInt64 = 0
    private var delivered: UInt64 = 0

    init(_ webSocket: WebSocket) {
        self.webSocket = webSocket
        machine = KeepaliveStateMachine(
            interval: webSocket.options.pingInterval, timeout: webSocket.options.pongTimeout)
        guard let wait = machine.firstWait else { return }
        let timer = LoopTimer { [weak self] in self?.tick() }
        timer.start(after: wait)
        self.timer = timer
    }

    func stop() {
        timer = nil
        let asked = asked
        self.asked = []
        guard !asked.isEmpty else { return }
        EventLoop.later {
            for ping in asked { ping.then(false) }
        }
    }

    func ping(within limit: UInt64, then: @escaping @EventLoop (Bool) -> Void) {
        guard let id = send() else { return EventLoop.later { then(false) } }
        let timer = LoopTimer { [weak self] in self?.deadlinePassed(for: id) }
        timer.start(after: limit)
        asked.append(Asked(id: id, timer: timer, then: then))
    }

    func didReceivePong(_ payload: UnsafeRawBufferPointer) {
        guard payload.count == 8 else { return }
        let id = UInt64(bigEndian: payload.loadUnaligned(as: UInt64.self))
        guard id <= lastID else { return }
        // A peer may answer the newest of several pings only (RFC 6455, 5.5.3).
        answer(upTo: id, from: 0, true)
        guard id >= regularID, let action = machine.pongReceived(now: EventLoop.now) else { return }
        perform(action)
    }

    /// A process that was held up sees its timers before its sockets: the pong may be there, or yet to be written.
    private func deadlinePassed(for id: UInt64) {
        guard let index = asked.firstIndex(where: { $0.id == id }) else { return }
        let poll = LoopExecutor.shared.turn.polls
        guard asked[index].poll != poll else { return asked[index].timer.start(after: Self.pollPause) }
        asked[index].poll = poll
        guard asked[index].overdue < KeepaliveStateMachine.looks else { return answer(upTo: id, from: id, false) }
        asked[index].overdue += 1
        asked[index].timer.start(after: 1)
    }

    private func answer(upTo last: UInt64, from first: UInt64, _ isAlive: Bool) {
        let answered = asked.filter { (first...last).contains($0.id) }
        asked.removeAll { (first...last).contains($0.id) }
        for ping in answered {
            ping.timer.stop()
            EventLoop.later { ping.then(isAlive) }
        }
    }

    private func tick() {
        let poll = LoopExecutor.shared.turn.polls
        guard lastPoll != poll else {
            timer?.start(after: Self.pollPause)
            return
        }
        lastPoll = poll
        let isMoving = hasMoved()
        perform(machine.tick(now: EventLoop.now, isMoving: isMoving))
    }

    private func perform(_ action: KeepaliveStateMachine.Action) {
        switch action {
        case .ping(let wait):
            guard let id = send() else { return }
            regularID = id
            _ = hasMoved()
            timer?.start(after: wait)
        case .wait(let wait): timer?.start(after: wait)
        case .end:
            // Closing lets go of the last reference to it, if its owner has.
            let webSocket = webSocket
            let limit = webSocket.options.pongTimeout
            let error = TransportError(.pongMissing, "the peer did not answer a ping within \(limit) ms")
            webSocket.connection?.close()
            webSocket.end(CloseReason(code: nil, error: error, byPeer: false))
        }
    }

    /// Whether anything has come from the peer, or anything of ours has reached it, since the last look.
    private func hasMoved() -> Bool {
        guard let connection = webSocket.connection else { return false }
        defer {
            received = webSocket.receivedBytes
            delivered = connection.deliveredBytes
        }
        if webSocket.isPaused { return true }
        return webSocket.receivedBytes != received
            || (connection.isWriting && connection.deliveredBytes != delivered)
    }

    private func send() -> UInt64? {
        guard case .open(let connection) = webSocket.state else { return nil }
        lastID += 1
        let id = lastID
        withUnsafeBytes(of: id.bigEndian) { webSocket.writeControl(.ping, $0, on: connection) }
        return id
    }
}

extension WebSocket {
    /// Sends a ping. `then` hears once whether its pong came in time; `false` also when the connection ends.
    package func ping(within milliseconds: UInt64, then: @escaping @EventLoop (Bool) -> Void) {
        guard let keepalive else { return EventLoop.later { then(false) } }
        keepalive.ping(within: milliseconds, then: then)
    }
}
