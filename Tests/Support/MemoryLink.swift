#if DEBUG
    import Identity
    import JSON
    package import Signalling
    import Transport
    import Wire

    @testable import Relay

    /// A link to a ``MemoryRelay``: the real session state machine without a socket. Its backoff uses seed 1.
    @EventLoop
    final class MemoryLink: RouteLink {
        nonisolated let registration: SignallingFrame.Register
        private(set) var state = LinkState.offline(.stopped)

        private let url: WebSocketURL
        private let address: String
        private let key: SigningKey?
        private let relays: MemoryRelays
        private let handler: RouteLinkHandler
        private var session: RelaySessionStateMachine
        private var generator = SeededGenerator(seed: 1)
        private var connection: Attachment?
        private lazy var timer = LoopTimer { [weak self] in self?.deadlineReached() }

        init(
            _ request: RelayLinkRequest, at url: WebSocketURL, in relays: MemoryRelays,
            _ handler: @escaping RouteLinkHandler
        ) {
            self.url = url
            address = request.url
            registration = request.registration
            key = request.key
            self.relays = relays
            self.handler = handler
            session = RelaySessionStateMachine(registration: request.registration, proves: request.key != nil)
        }

        isolated deinit { connection?.leave() }

        var relay: RelayFacts? {
            RelayFacts(
                origin: url.origin, isProved: session.isProved, absenceReporting: session.absenceReporting,
                senderNaming: session.senderNaming)
        }

        var isResting: Bool { session.isResting }

        func start() {
            if case .connect = session.start() { connect() }
            settle()
        }

        func stop() {
            if case .closeConnection = session.stop() { leave() }
            settle()
        }

        func suspend() {
            if case .closeConnection = session.suspend() { leave() }
            settle()
        }

        func resume() {
            if case .connect = session.resume() { connect() }
            settle()
        }

        func rest(_ isResting: Bool) {
            session.rest(isResting, now: EventLoop.now, using: &generator)
            settle()
        }

        func reconnectNow() {
            switch session.reconnectNow() {
            case .connect: connect()
            case .replaceConnection:
                leave()
                connect()
            case .none: break
            }
            settle()
        }

        func send(to peer: PeerID, payload: JSONValue, sealed: Bool) -> SendResult {
            send(.message(SignallingFrame.Message(to: peer, payload: payload, isSealed: sealed)))
        }

        private func send(_ frame: SignallingFrame) -> SendResult {
            guard state.isOnline, session.connectionState.isOnline, let connection, connection.isOpen else {
                return .offline
            }
            let text = frame.json.serialized()
            guard text.utf8.count <= RelayConnection.maximumFrame else { return .tooLarge }
            connection.send(text)
            return .written
        }

        // MARK: The connection

        private func connect() {
            let connection = Attachment(self)
            self.connection = connection
            EventLoop.post { [self] in
                guard self.connection === connection else { return }
                guard let relay = relays.find(address), connection.attach(to: relay, registration.peerID) else {
                    relays.find(address)?.wasLost(self)
                    return lost(connection, OfflineReason(OfflineReason.Code("connect_failed"), "no relay answers"))
                }
                switch session.opened(now: EventLoop.now) {
                case .register(let registration):
                    connection.send(SignallingFrame.register(registration).json.serialized())
                case .closeConnection: leave()
                }
                settle()
            }
        }

        private func leave() {
            connection?.leave()
            connection = nil
        }

        func received(_ bytes: [UInt8], over connection: Attachment) {
            guard self.connection === connection else { return }
            let frame: SignallingFrame
            do throws(SignallingFrameError) {
                frame = try Self.parse(bytes)
            } catch {
                return handler(self, .malformed(error))
            }
            carryOut(session.received(frame, now: EventLoop.now, using: &generator), over: connection)
        }

        private func carryOut(_ action: RelaySessionStateMachine.ReceivedAction, over connection: Attachment) {
            switch action {
            case .online:
                if let probe = session.senderProbe(now: EventLoop.now, using: &generator) {
                    connection.send(probe.json.serialized())
                }
                settle()
            case .ignore: settle()
            // Relays in memory take nothing from strangers.
            case .sendAsStranger: carryOut(session.strangerRefused(now: EventLoop.now), over: connection)
            case .prove(let nonce, _): prove(nonce)
            case .drop:
                leave()
                settle()
            case .sendPong: connection.send(SignallingFrame.pong(timestamp: .now).json.serialized())
            case .registerAgain(let registration):
                connection.send(SignallingFrame.register(registration).json.serialized())
                settle()
            case .deliver(let event): handler(self, event)
            }
        }

        func lost(_ connection: Attachment, _ reason: OfflineReason) {
            guard self.connection === connection else { return }
            self.connection = nil
            relays.find(address)?.wasLost(self)
            _ = session.closed(reason, now: EventLoop.now, using: &generator)
            settle()
        }

        private static func parse(_ bytes: [UInt8]) throws(SignallingFrameError) -> SignallingFrame {
            let result: Result<SignallingFrame, SignallingFrameError> = bytes.withUnsafeBytes { buffer in
                do throws(SignallingFrameError) { return .success(try SignallingFrame(parsing: buffer)) } catch {
                    return .failure(error)
                }
            }
            return try result.get()
        }

        private func prove(_ nonce: String) {
            guard let key else { return }
            let proof = RegistrationProof(signing: nonce, origin: url.origin, channelBinding: nil, with: key)
            var register = session.registration
            register.proof = SignallingFrame.Proof(nonce: proof.nonce, origin: proof.origin, signature: proof.signature)
            connection?.send(SignallingFrame.register(register).json.serialized())
            settle()
        }

        private func deadlineReached() {
            switch session.deadlineReached(now: EventLoop.now, using: &generator) {
            case .connect: connect()
            case .sendPing: connection?.send(SignallingFrame.ping.json.serialized())
            case .probe(let frame): connection?.send(frame.json.serialized())
            case .deliver(let event): handler(self, event)
            case .drop: leave()
            case .none: break
            }
            settle()
        }

        private func settle() {
            if let deadline = session.deadline {
                let now = EventLoop.now
                timer.start(after: deadline > now ? deadline - now : 0)
            } else {
                timer.stop()
            }
            guard session.connectionState != state else { return }
            state = session.connectionState
            handler(self, .stateChanged(state))
        }
    }

    extension RouteLink {
        /// Whether a link to a relay rests; `nil` = it is of another kind.
        package var rests: Bool? { (self as? RelayConnection)?.isResting ?? (self as? MemoryLink)?.isResting }
    }

    /// One connection between a link and a relay. Frames arrive in a later turn of the loop, in order.
    @EventLoop
    final class Attachment: MemoryEnd {
        private weak var link: MemoryLink?
        private var relay: MemoryRelay?
        private var id: ConnectionID?

        init(_ link: MemoryLink) { self.link = link }

        var isOpen: Bool { id != nil }

        func attach(to relay: MemoryRelay, _ peer: PeerID) -> Bool {
            guard let id = relay.open(self, of: peer) else { return false }
            (self.relay, self.id) = (relay, id)
            return true
        }

        func send(_ text: String) {
            guard let relay, let id else { return }
            EventLoop.post { relay.received(Array(text.utf8), from: id) }
        }

        /// Frames sent before still arrive.
        func leave() {
            guard let relay, let id else { return }
            (self.relay, self.id) = (nil, nil)
            EventLoop.post { relay.closed(id) }
        }

        func deliver(_ bytes: [UInt8]) {
            EventLoop.post { self.link?.received(bytes, over: self) }
        }

        func closed(_ why: String) {
            (relay, id) = (nil, nil)
            EventLoop.post { self.link?.lost(self, OfflineReason(.closed, why)) }
        }
    }
#endif
