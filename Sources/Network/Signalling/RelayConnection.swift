package import Identity
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
    package typealias Handler = @EventLoop (RelayConnection, LinkEvent) -> Void

    /// The longest frame that is sent, in bytes: 1 MiB less the space for what a relay adds (Wire, "Frames").
    package static let maximumFrame = (1 << 20) - (1 << 10)
    /// With more bytes than these unsent, nothing more is taken.
    package static let maximumUnsent = 4 << 20

    package let url: WebSocketURL
    package nonisolated let registration: SignallingFrame.Register
    /// As it was told last.
    package private(set) var state: LinkState = .offline(.stopped)

    /// Whether the relay has asked for a proof of our id, and taken it: only then it gives us sealed messages.
    package var isProved: Bool { machine.isProved }

    /// Whether the relay reports absent peers.
    package var absenceReporting: AbsenceReporting { machine.absenceReporting }

    /// Who names the sender of a message at the relay.
    package var senderNaming: SenderNaming { machine.senderNaming }

    /// Whether it rests while it is down, as it was told last.
    package var isResting: Bool { machine.isResting }

    private var machine: RelaySessionStateMachine
    private var generator: any RandomNumberGenerator
    private let options: WebSocketClientOptions
    private let key: SigningKey?
    private let namesItself: Bool
    private let handler: Handler
    private var webSocket: WebSocket?
    private var stranger: StrangerConnection?
    private lazy var timer = LoopTimer { [weak self] in self?.deadlineReached() }

    /// - Parameters:
    ///   - registration: what is registered at every connect: a device its DID, a desktop its peer id.
    ///   - key: the key whose `did:key` is registered: the registration is proved to relays that ask for it
    ///     (Wire, "Proof of an id"). `nil` = a plain registration, such as the alias of a typed code.
    ///   - namesItself: whether a plain registration writes its id as `from` into messages. One with a key does, unless
    ///     the relay is known to name senders.
    ///   - generator: where the jitter of the backoff comes from.
    package init(
        url: WebSocketURL, registration: SignallingFrame.Register, provingWith key: SigningKey? = nil,
        namesItself: Bool = false, options: WebSocketClientOptions = WebSocketClientOptions(),
        generator: any RandomNumberGenerator = SystemRandomNumberGenerator(), handler: @escaping Handler
    ) {
        precondition(key.map { $0.did == registration.peerID.text } ?? true, "a key can prove only its own did:key")
        self.url = url
        self.key = key
        self.namesItself = namesItself
        self.registration = registration
        self.options = options
        self.generator = generator
        self.handler = handler
        machine = RelaySessionStateMachine(registration: registration, proves: key != nil)
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

    /// Closes the connection and forgets the registration until ``resume()``: the machine goes to sleep. Idempotent.
    package func suspend() {
        switch machine.suspend() {
        case .closeConnection: letGo()
        case .none: break
        }
        settle()
    }

    /// Connects again at once, if it was started; without ``suspend()`` before it, nothing happens.
    package func resume() {
        switch machine.resume() {
        case .connect: connect()
        case .none: break
        }
        settle()
    }

    /// Whether it tries again, once it is down, only every ten minutes, and when ``reconnectNow()`` is called: for a relay
    /// whose peers are reached another way at present.
    package func rest(_ isResting: Bool) {
        machine.rest(isResting, now: EventLoop.now, using: &generator)
        settle()
    }

    /// Reconnects at once, because the network has changed. A stopped or suspended connection stays that way. An
    /// existing connection or attempt is dropped without an `offline` event.
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
    ///
    /// `sealed` = a relay of ours gives it only to a registration that was proved, and keeps it until there is one.
    package func send(to peer: PeerID, payload: JSONValue, sealed: Bool = false) -> SendResult {
        // A relay that lets senders name themselves may name nobody otherwise (WireDeployedRelays, "Forged senders").
        let isNamed = key == nil ? namesItself : machine.senderNaming != .byRelay
        let from = isNamed ? registration.peerID : nil
        return send(.message(SignallingFrame.Message(to: peer, from: from, payload: payload, isSealed: sealed)))
    }

    /// Sends a frame that relays route whole; `routed.to` names the target.
    package func send(routed: SignallingFrame.Routed) -> SendResult { send(.routed(routed)) }

    package func askForPeers() { _ = send(.other(type: "get-peers")) }

    private func send(_ frame: SignallingFrame) -> SendResult {
        guard state.isOnline, machine.connectionState.isOnline, let webSocket, webSocket.isOpen else { return .offline }
        guard webSocket.unsentBytes <= Self.maximumUnsent else { return .congested }
        let text = frame.json.serializedBytes()
        guard text.count <= Self.maximumFrame else { return .tooLarge }
        guard machine.take(text.count, now: EventLoop.now) else { return .congested }
        return text.withUnsafeBytes { webSocket.send($0) } ? .written : .offline
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
        carryOut(machine.received(frame, now: EventLoop.now, using: &generator), on: webSocket)
    }

    private func carryOut(_ action: RelaySessionStateMachine.ReceivedAction, on webSocket: WebSocket) {
        switch action {
        case .online:
            if let probe = machine.senderProbe(now: EventLoop.now, using: &generator) {
                webSocket.send(probe.json.serialized())
            }
            settle()
        case .ignore: settle()
        case .sendAsStranger(let frame):
            stranger = StrangerConnection(to: url, options, sending: frame) { [weak self] in self?.strangerRefused($0) }
            settle()
        case .prove(let nonce, let isBound): prove(nonce, isBound, on: webSocket)
        case .drop:
            letGo()
            settle()
        case .sendPong: webSocket.send(SignallingFrame.pong(timestamp: .now).json.serialized())
        case .registerAgain(let registration):
            webSocket.send(SignallingFrame.register(registration).json.serialized())
            settle()
        case .deliver(.senderNaming(let naming)):
            settle()
            handler(self, .senderNaming(naming))
        case .deliver(let event): handler(self, event)
        }
    }

    private func strangerRefused(_ code: String?) {
        guard let webSocket else { return }
        carryOut(machine.strangerRefused(code, now: EventLoop.now), on: webSocket)
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

    /// Signs for this connection: what was dialled, and over TLS the channel, unless a proxy ends it.
    private func prove(_ nonce: String, _ isBound: Bool, on webSocket: WebSocket) {
        let binding = isBound ? webSocket.channelBinding : nil
        guard let key, !isBound || !url.isSecure || binding != nil else {
            let why = "cannot bind a proof to the TLS connection to the relay (TLS 1.3 is required)"
            return carryOut(machine.cannotProve(why, now: EventLoop.now, using: &generator), on: webSocket)
        }
        let proof = RegistrationProof(signing: nonce, origin: url.origin, channelBinding: binding, with: key)
        var register = machine.registration
        register.proof = SignallingFrame.Proof(nonce: proof.nonce, origin: proof.origin, signature: proof.signature)
        webSocket.send(SignallingFrame.register(register).json.serialized())
        settle()
    }

    private func deadlineReached() {
        switch machine.deadlineReached(now: EventLoop.now, using: &generator) {
        case .connect: connect()
        case .sendPing: webSocket?.send(SignallingFrame.ping.json.serialized())
        case .probe(let frame): webSocket?.send(frame.json.serialized())
        case .deliver(let event):
            settle()
            return handler(self, event)
        case .drop: letGo()
        case .none: break
        }
        settle()
    }

    /// Sets the timer for what the machine waits for, then tells a change of state; last, for the handler may do anything.
    private func settle() {
        if webSocket == nil || !machine.needsStranger { stranger = nil }
        if let deadline = machine.deadline {
            let now = EventLoop.now
            timer.start(after: deadline > now ? deadline - now : 0)
        } else {
            timer.stop()
        }
        tell(machine.connectionState)
    }

    private func tell(_ newState: LinkState) {
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
