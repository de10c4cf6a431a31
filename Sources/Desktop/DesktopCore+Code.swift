import Hosting
import Identity
import JSON
import Pairing
import Sealing
import Signalling
import Transport
import Wire

// The typed code: an alias on a second connection, and CPace over it (protocol.md 2 and 4.3).
extension DesktopCore {
    /// `then` gets the code once its alias is ours.
    func code(timeout: Int64, _ then: @escaping Then) {
        do throws(HostError) { try start() } catch { return then(.failure(error)) }
        waitingCodes.add(until: EventLoop.now &+ UInt64(clamping: timeout), then)
        armWaitingTimer()
        serveWaitingCodes()
    }

    /// Begins to show a code, where one is waited for and there is a relay. Those who ask while one is on its way get that.
    func serveWaitingCodes() {
        guard !waitingCodes.isEmpty, aliasURL != nil else { return }
        switch coding.reported {
        // A device that is being stored gets its confirmation first.
        case .connecting, .acked(_, nil): return
        case .idle, .displaying, .acked(_, .some), .paired, .expired, .cancelled, .failed: break
        }
        let fresh = freshCode()
        perform(
            coding.show(
                nameplate: fresh.nameplate, password: fresh.password, identity: identity, confirm: options.confirms,
                legacy: options.legacyPairing))
    }

    func endWaitingCodes(_ outcome: Result<String, HostError>) {
        let waiting = waitingCodes.takeAll()
        armWaitingTimer()
        for waiter in waiting { waiter(outcome) }
    }

    func codeTimedOut() { perform(coding.timedOut(now: .now)) }

    private func freshCode() -> (nameplate: PairingCode, password: PairingCode) {
        var generator = SecureRandomNumberGenerator()
        var fresh = PairingCode(using: &generator)
        while fresh == offerCode { fresh = PairingCode(using: &generator) }
        nameplate = fresh
        return (fresh, PairingCode(using: &generator))
    }

    // MARK: The alias

    /// The relay that devices know without a code: the common one before our own.
    private var aliasURL: String? {
        [options.common.relayURL, ownURL].compactMap { $0 }.first { links[$0]?.state.isOnline == true }
    }

    private func openAlias(_ id: PeerID) {
        closeAlias()
        guard let url = aliasURL, let own = links[url] else {
            return perform(coding.aliasFailed(detail: "no relay has the desktop registered", isFinal: true))
        }
        let link = RelayConnection(
            url: own.url, registration: SignallingFrame.Register(peerID: id, deviceType: .desktop),
            options: clientOptions
        ) { [weak self] link, event in
            guard let self, self.alias?.link === link else { return }
            self.received(event, overAlias: url)
        }
        alias = (link, url)
        link.start()
    }

    func closeAlias() {
        let closing = alias
        alias = nil
        closing?.link.stop()
    }

    private func received(_ event: RelayEvent, overAlias url: String) {
        switch event {
        case .stateChanged(.online): perform(coding.aliasOnline(now: .now))
        case .stateChanged(.offline(let reason)) where reason.code == .idTaken:
            let fresh = freshCode()
            perform(coding.aliasTaken(newNameplate: fresh.nameplate, newPassword: fresh.password))
        case .stateChanged(.offline(let reason)): perform(coding.aliasFailed(detail: reason.message))
        case .message(let message):
            let isSealed = message.isSealed || message.payload["type"]?.string == SealedEnvelope.type
            receivedAtAlias(
                PairingFrame(
                    reading: message.payload, from: message.from, isSealed: isSealed,
                    isOfSecurePeer: isSecure(message.from), delivery: message.delivery), over: url)
        case .routed(let frame, let delivery):
            guard let from = frame.from else { return }
            receivedAtAlias(
                PairingFrame(frame.members, from: from, isOfSecurePeer: isSecure(from), delivery: delivery), over: url)
        case .stateChanged(.connecting), .stateChanged(.registering), .peerOffline, .peerStatus, .refused: break
        case .malformed: counters.malformedFrames &+= 1
        }
    }

    private func receivedAtAlias(_ frame: PairingFrame, over url: String) {
        var generator = SecureRandomNumberGenerator()
        let actions = coding.receivedAtAlias(frame, now: .now, using: &generator)
        for case .report(.acked) in actions { heardOver[frame.from] = url }
        perform(actions)
    }

    // MARK: Carrying out

    func perform(_ actions: [DesktopTypedCodeAction]) {
        for action in actions {
            switch action {
            case .openAlias(let id): openAlias(id)
            case .closeAlias: closeAlias()
            case .sendExchange(let exchange, let peer): _ = alias?.link.send(to: peer, payload: exchange.json)
            case .sendWrongCode(let reject, let peer): _ = alias?.link.send(to: peer, payload: reject.json)
            case .sendConfirmation(let confirmation, let peer): greet(peer, confirmation)
            case .sendReject(let reject, let peer, let sealed): decline(peer, reject, sealed: sealed)
            case .sendICEConfig(let peer): sendICEConfig(to: peer)
            case .startTimer(let delay): codeTimer.start(after: delay)
            case .stopTimer: codeTimer.stop()
            case .store(let device): store(device, for: .code)
            case .report(let state): report(state)
            }
        }
    }

    private func report(_ state: DesktopTypedCodeState) {
        report(state.data)
        switch state {
        case .displaying(let code, let expiresAt):
            let shown: JSONValue = ["code": .string(code.text), "expiresAt": .integer(expiresAt)]
            endWaitingCodes(.success(shown.serialized()))
        case .expired: endWaitingCodes(.failure(HostError(PairingFailure(.expired))))
        case .cancelled: endWaitingCodes(.failure(HostError(PairingFailure(.cancelled))))
        case .failed(let failure): endWaitingCodes(.failure(HostError(failure)))
        case .idle, .connecting, .acked, .paired: break
        }
    }
}
