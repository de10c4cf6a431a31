extension WebSocket: ConnectionConsumer {
    func connectionDidSecure(_ connection: Connection) {}

    func connection(_ connection: Connection, didReceive bytes: UnsafeMutableRawBufferPointer) {
        receivedBytes &+= UInt64(bytes.count)
        // Behind what already waits, if anything does.
        guard held.isEmpty, !isPaused else { return held.append(UnsafeRawBufferPointer(bytes)) }
        var input = bytes
        if decoder.minorFrames > 0 { forgiveMinorFrames() }
        read(&input)
        held.append(UnsafeRawBufferPointer(input))
        if decoder.heldBytes > 0 || intake.isCounted { countUnfinished() }
    }

    func connectionDidEnd(_ connection: Connection, _ error: TransportError?) {
        switch state {
        case .connecting, .closed: return
        case .open:
            let error = error ?? TransportError(.closed, "the connection ended without a close frame")
            end(CloseReason(code: nil, error: error, byPeer: true))
        case .closing(_, let code, _):
            end(CloseReason(code: code, error: nil, byPeer: false))
        }
        connection.close()
    }

    /// Handles events until the bytes are read, reading is paused, or the connection ends. What is left waits.
    private func read(_ input: inout UnsafeMutableRawBufferPointer) {
        guard let connection else { return input = UnsafeMutableRawBufferPointer(rebasing: input.prefix(0)) }
        isReading = true
        defer { isReading = false }
        // A weak reference is looked at once, and not for each message.
        isDelegateNew = false
        var delegate = delegate
        while !isPaused {
            guard isConnected else {
                input = UnsafeMutableRawBufferPointer(rebasing: input.prefix(0))
                return
            }
            guard let event = decoder.next(&input) else { return }
            if isDelegateNew {
                isDelegateNew = false
                delegate = self.delegate
            }
            handle(event, for: delegate, on: connection)
        }
    }

    @inline(__always)
    private func handle(
        _ event: FrameEvent, for delegate: (any WebSocketDelegate)?, on connection: Connection
    ) {
        switch event {
        case .text(let text):
            if isOpen { delegate?.webSocket(self, didReceive: text) }
        case .ping(let payload):
            if isOpen { writeControl(.pong, payload, on: connection) }
        case .pong(let payload):
            keepalive?.didReceivePong(payload)
        case .close(let code, let reason):
            didReceiveClose(code, reason, on: connection)
        case .failed(let code, let error):
            if error.code == .tooManyFrames { expel(code, error) } else { fail(code, error) }
        }
    }

    private func didReceiveClose(_ code: UInt16?, _ reason: UnsafeRawBufferPointer, on connection: Connection) {
        switch state {
        case .connecting, .closed: return
        case .open:
            let text = String(decoding: reason, as: UTF8.self)
            // The same code goes back; a frame without one is answered by one without.
            writeClose(code, "", on: connection)
            connection.finish()
            end(CloseReason(code: code ?? CloseCode.noneReceived, error: nil, byPeer: true, text: text))
        case .closing(_, let ours, _):
            connection.finish()
            end(CloseReason(code: ours, error: nil, byPeer: false))
        }
    }

    // MARK: Pausing

    /// Leaves the peer's bytes with the kernel. No message arrives until ``resumeReading(for:)`` was called for each reason.
    package func pauseReading(for reason: PauseReasons = .backpressure) {
        guard isOpen else { return }
        let wasPaused = isPaused
        pauses.formUnion(reason)
        if !wasPaused { connection?.pauseReading() }
    }

    package func resumeReading(for reason: PauseReasons = .backpressure) {
        guard isPaused else { return }
        pauses.subtract(reason)
        if !isPaused { EventLoop.later { self.readHeld() } }
    }

    var isPaused: Bool { !pauses.isEmpty }

    private func readHeld() {
        guard let connection, !isPaused, !isReading else { return }
        var waiting = ByteQueue()
        swap(&waiting, &held)
        var input = waiting.bytes
        read(&input)
        held.append(UnsafeRawBufferPointer(input))
        if !isPaused { connection.resumeReading() }
    }
}
