package import JSON
package import Transport
package import Wire

/// One peer's connection to one relay, that comes back by itself until it is stopped.
///
/// Carries out what ``RelaySessionStateMachine`` decides, over a WebSocket. Everything happens on the event loop. The
/// handler is never called inside a call that the owner makes, but for the change of state that `start`, `stop` and
/// `reconnectNow` cause. It may call anything here. Letting go of the connection ends it.
@EventLoop
package final class RelayConnection {
    package typealias Handler = @EventLoop (RelayConnection, RelayEvent) -> Void

    /// The longest frame that is sent, in bytes: what a peer takes (1 MiB, protocol.md), less the room for what a relay
    /// writes into it on its way.
    package static let maximumFrame = (1 << 20) - (1 << 10)
    /// With more bytes than these unsent, nothing more is taken.
    package static let maximumUnsent = 4 << 20

    package let url: WebSocketURL
    package nonisolated let registration: SignallingFrame.Register
    /// As it was told last.
    package private(set) var state: RelayConnectionState = .offline(.stopped)

    private var machine: RelaySessionStateMachine
    private var generator: any RandomNumberGenerator
    private let options: WebSocketClientOptions
    private let handler: Handler
    private var webSocket: WebSocket?
    private lazy var timer = LoopTimer { [weak self] in self?.deadlineReached() }

    /// - Parameters:
    ///   - registration: what is registered at every connect: a device its DID, a desktop its peer id.
    ///   - generator: where the jitter of the backoff comes from.
    package init(
        url: WebSocketURL, registration: SignallingFrame.Register,
        options: WebSocketClientOptions = WebSocketClientOptions(),
        generator: any RandomNumberGenerator = SystemRandomNumberGenerator(), handler: @escaping Handler
    ) {
        self.url = url
        self.registration = registration
        self.options = options
        self.generator = generator
        self.handler = handler
        machine = RelaySessionStateMachine(registration: registration)
    }

    isolated deinit {
        webSocket?.delegate = nil
        webSocket?.close()
    }

    /// Connects, and stays connected. Idempotent.
    package func start() {
        switch machine.start() {
        case .connect: connect()
        case .none: break
        }
        settle()
    }

    /// Disconnects until the next ``start()``. Idempotent.
    package func stop() {
        switch machine.stop() {
        case .closeConnection: letGo()
        case .none: break
        }
        settle()
    }

    /// Connects anew without a wait: the network has changed, or the machine has woken. A stopped connection stays so.
    /// One that stood, or was on its way, is given up without being told as `offline`.
    package func reconnectNow() {
        switch machine.reconnectNow() {
        case .connect: connect()
        case .replaceConnection:
            // What the old connection runs through may be gone: no handshake, and the relay sees the newer one win.
            webSocket?.delegate = nil
            webSocket?.abort()
            webSocket = nil
            connect()
        case .none: break
        }
        settle()
    }
}

// MARK: Sending

extension RelayConnection {
    /// Sends a payload. Nothing is kept while offline: the caller decides.
    package func send(to peer: PeerID, payload: JSONValue) -> SendResult {
        send(.message(SignallingFrame.Message(to: peer, payload: payload)))
    }

    /// Sends a frame that relays route whole; `routed.to` names the target.
    package func send(routed: SignallingFrame.Routed) -> SendResult { send(.routed(routed)) }

    private func send(_ frame: SignallingFrame) -> SendResult {
        guard state.isOnline, machine.connectionState.isOnline, let webSocket, webSocket.isOpen else { return .offline }
        guard webSocket.unsentBytes <= Self.maximumUnsent else { return .congested }
        let text = frame.json.serialized()
        guard text.utf8.count <= Self.maximumFrame else { return .tooLarge }
        return webSocket.send(text) ? .written : .offline
    }
}

// MARK: What the socket tells

extension RelayConnection: WebSocketDelegate {
    package func webSocketDidOpen(_ webSocket: WebSocket) {
        guard webSocket === self.webSocket else { return }
        switch machine.opened(now: EventLoop.now) {
        case .register(let registration): webSocket.send(SignallingFrame.register(registration).json.serialized())
        case .closeConnection: letGo()
        }
        settle()
    }

    package func webSocket(_ webSocket: WebSocket, didReceive text: UnsafeRawBufferPointer) {
        guard webSocket === self.webSocket else { return }
        let frame: SignallingFrame
        do throws(SignallingFrameError) { frame = try SignallingFrame(parsing: text) } catch {
            handler(self, .malformed(error))
            return
        }
        switch machine.received(frame, now: EventLoop.now, using: &generator) {
        case .online, .ignore: settle()
        case .drop:
            letGo()
            settle()
        case .sendPong: webSocket.send(SignallingFrame.pong(timestamp: .now).json.serialized())
        case .deliver(let event): handler(self, event)
        }
    }

    package func webSocketDidClose(_ webSocket: WebSocket, _ reason: CloseReason) {
        guard webSocket === self.webSocket else { return }
        self.webSocket = nil
        switch machine.closed(OfflineReason(reason), now: EventLoop.now, using: &generator) {
        case .offline, .none: settle()
        }
    }
}

// MARK: Carrying out

extension RelayConnection {
    private func connect() { webSocket = WebSocket.connect(to: url, options: options, delegate: self) }

    /// Ends the connection in order, without waiting for its end.
    private func letGo() {
        webSocket?.delegate = nil
        webSocket?.close()
        webSocket = nil
    }

    private func deadlineReached() {
        switch machine.deadlineReached(now: EventLoop.now, using: &generator) {
        case .connect: connect()
        case .sendPing: webSocket?.send(SignallingFrame.ping.json.serialized())
        case .drop: letGo()
        case .none: break
        }
        settle()
    }

    /// Sets the timer for what the machine waits for, then tells a change of state; last, for the handler may do anything.
    private func settle() {
        if let deadline = machine.deadline {
            let now = EventLoop.now
            timer.start(after: deadline > now ? deadline - now : 0)
        } else {
            timer.stop()
        }
        tell(machine.connectionState)
    }

    private func tell(_ newState: RelayConnectionState) {
        guard newState != state else { return }
        state = newState
        handler(self, .stateChanged(newState))
    }
}

extension OfflineReason {
    fileprivate init(_ reason: CloseReason) {
        guard let error = reason.error else {
            self.init(.closed, reason.code.map { "the relay closed the connection (\($0))" } ?? "the connection ended")
            return
        }
        self.init(Code(error.code.name), error.message)
    }
}
