internal import Identity
package import Transport

extension Relay: WebSocketDelegate {
    package func webSocketDidOpen(_ webSocket: WebSocket) {}

    package func webSocket(_ webSocket: WebSocket, didReceive text: UnsafeRawBufferPointer) {
        guard let id = webSocket.number.map(ConnectionID.init(number:)) else { return }
        if text.count >= RelayStateMachine.largeFrame {
            let moment = now()
            if machine.exceedsBytes(text.count, from: id, at: moment) {
                timing.pauses.pause(webSocket, at: moment.monotonic)
            }
        }
        switch machine.received(text, from: id, at: now()) {
        case .none: return
        case .forward(let target, let frame):
            if let socket = socket(of: target), send(frame, of: text, on: socket) { return }
            // It is closing; the event of its end will follow.
            guard
                case .perform(let actions) = machine.received(
                    text, from: id, at: now(), isTargetClosing: true)
            else { return }
            perform(actions)
        case .elsewhere(let frame): hooks.cluster?.send(frame)
        case .perform(let actions): perform(actions)
        }
    }

    package func webSocketDidClose(_ webSocket: WebSocket, _ reason: CloseReason) {
        guard let id = webSocket.number.map(ConnectionID.init(number:)) else { return }
        webSocket.number = nil
        hooks.gate?.didClose(webSocket)
        if let code = reason.error?.code { count(code) }
        sockets[id.slot] = nil
        let actions = machine.closed(id, at: now())
        guard !isStopping else {
            archiveChanges()
            return finishStopping()
        }
        perform(actions)
    }

    private func count(_ code: TransportError.Code) {
        switch code {
        case .slowReader:
            tallies.slowReaders += 1
            log(
                .warning,
                "disconnected a peer that read too slowly: \(options.traffic.maximumQueuedBytes) bytes were queued")
        case .receiveBudget, .unfinishedMessage: tallies.unfinishedMessages += 1
        case .tooManyFrames: tallies.floods += 1
        default: break
        }
    }

    /// A socket has opened.
    func admit(_ webSocket: WebSocket) {
        let id = machine.opened(
            from: webSocket.remote.host, isLoopback: webSocket.remote.isLoopback, at: now())
        while sockets.count <= id.slot { sockets.append(nil) }
        sockets[id.slot] = webSocket
        webSocket.number = id.number
        webSocket.delegate = self
        hooks.gate?.didOpen(webSocket)
    }

    // MARK: Carrying out

    func perform(_ actions: [RelayStateMachine.Action]) {
        for action in actions {
            switch action {
            case .send(let id, let frame):
                guard let socket = socket(of: id) else { continue }
                frame.withUnsafeBytes { _ = socket.send($0) }
            case .close(let id, let cause):
                if cause == .tooManyFrames {
                    socket(of: id)?.expel(
                        cause.code, TransportError(.tooManyFrames, "the peer keeps sending too many frames"))
                } else {
                    socket(of: id)?.close(code: cause.code, reason: cause.reason)
                }
            case .probe(let id, let peer, let claim):
                probe(id, peer: peer, claim: claim)
            case .awaitWritten(let id, let peer, let sequence):
                socket(of: id)?.whenDrained { [weak self] isWritten in
                    guard isWritten, let self else { return }
                    machine.written(to: id, peer: peer, through: sequence)
                    archiveChanges()
                }
            case .challenge(let id): challenge(id)
            case .remember(let name, let id, let claim): remember(name, id, claim)
            case .claim(let name, let id, let claim, let isProved): self.claim(name, id, claim, isProved: isProved)
            case .came(let name): hooks.cluster?.came(name)
            case .left(let name): hooks.cluster?.left(name)
            case .kept(let name): hooks.cluster?.kept(name)
            case .watch(let name): hooks.cluster?.watch(name)
            case .cannotRemember(let isNetworkFull):
                let limit = options.names.maximumProvedIDs
                sayForgetful(
                    isNetworkFull
                        ? "one network has proved \(limit / 4) new ids today, its share; more are not remembered"
                        : "\(limit) ids are remembered as proved, the limit; new ones are not remembered")
            }
        }
        archiveChanges()
    }

    /// Tells the archive what has changed in the store.
    func archiveChanges() {
        guard machine.absent.hasChanges else { return }
        hooks.archive?.keep(machine.takeArchiveChanges())
    }

    private func challenge(_ id: ConnectionID) {
        guard let socket = socket(of: id) else { return }
        let remote = socket.remote
        if let origins = ownOrigins?.all(
            at: EventLoop.now, isLocal: remote.isLoopback, isProxied: remote.manner != .direct)
        {
            machine.origins = origins
        }
        let security: ChannelSecurity =
            switch remote.manner {
            case .headers: .proxied
            // The proxy forwards TLS as it is, or ends it if there is none here.
            case .preamble where options.tls == nil: .proxied
            case .direct where options.tls == nil: .plain
            case .preamble, .direct: socket.channelBinding.map { .bound($0) } ?? .unbound
            }
        let nonce = TextEncoding.base64url.encode(Identity.randomBytes(RegistrationProof.nonceByteCount))
        perform(machine.challenge(id, nonce: nonce, security: security, at: now()))
    }

    private func remember(_ name: [UInt8], _ id: ConnectionID, _ claim: UInt64) {
        memory.remember(name, at: now().epoch) { [weak self] failure in
            guard let self else { return }
            if let failure {
                sayForgetful("cannot store proved ids: \(failure)")
                tallies.unsavedProofs += 1
            }
            perform(machine.remembered(name, by: id, claim: claim, isSaved: failure == nil, at: now()))
        }
    }

    private func sayForgetful(_ text: String) {
        guard !tallies.hasLoggedUnkeptProofs else { return }
        tallies.hasLoggedUnkeptProofs = true
        log(.warning, text)
    }

    private func probe(_ id: ConnectionID, peer: Int, claim: UInt64) {
        guard let socket = socket(of: id) else { return }
        socket.ping(within: options.admission.takeoverWithin) { [weak self] answered in
            guard let self, !isStopping else { return }
            perform(machine.probeEnded(claim, of: peer, answered: answered, at: now()))
        }
    }

    func socket(of id: ConnectionID) -> WebSocket? {
        machine.isOpen(id) ? sockets[id.slot] : nil
    }

    /// One text message out of the relay's words and the bytes that came, without putting them together first.
    @inline(__always)
    private func send(_ frame: RoutedFrame, of text: UnsafeRawBufferPointer, on socket: WebSocket) -> Bool {
        let isSent = socket.send(
            pieces: pieces.set(
                frame.head, UnsafeRawBufferPointer(rebasing: text[frame.body]), frame.tail))
        withExtendedLifetime(frame) {}
        return isSent
    }
}
