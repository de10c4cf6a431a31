import Hosting
import Identity
import JSON
import Pairing
import Relay
import Signalling
import Transport
import Wire

// Flow B: the machine decides, this carries out (protocol.md 2 and 4.3).
extension DesktopCore {
    func offer(timeout: Int64, _ then: @escaping Then) {
        do throws(HostError) { try start() } catch { return then(.failure(error)) }
        waitingOffers.add(until: EventLoop.now &+ UInt64(clamping: timeout), then)
        armWaitingTimer()
        serveWaitingOffers()
    }

    func offerTimedOut() { perform(offering.timedOut(now: .now)) }

    private func show() -> Result<String, HostError> {
        var generator = SecureRandomNumberGenerator()
        var code = PairingCode(using: &generator)
        // An ack says which of the two it is for by its code alone.
        while code == nameplate { code = PairingCode(using: &generator) }
        offerCode = code
        let address = relay.flatMap { relay in options.relay.map { LocalRelayAddress($0, port: relay.port) } }
        let offer = DesktopPairingOffer(
            code: code, pcPeerID: peerID, deviceInfo: identity.deviceInfo, timestamp: .now,
            signalingURL: options.signalingURL ?? address?.lan, relayURL: options.common.relayURL,
            seal: PairingSeal(secret: PairingSecret.random().base64url, confirm: options.confirms))
        perform(offering.show(offer, confirm: options.confirms, legacy: options.legacyPairing))
        return .success(
            JSONValue.object([
                "payload": .string(offer.serialized()), "code": .string(offer.code.digits),
                "expiresAt": .integer(offer.timestamp &+ DesktopPairingOffer.lifetime),
            ]).serialized())
    }

    // MARK: Waiting for a relay

    func serveWaitingOffers() {
        guard isOnline, !waitingOffers.isEmpty else { return }
        // A device that is being stored gets its confirmation first.
        if case .acked(_, nil) = offering.reported { return }
        // They asked for the same: one offer answers all.
        let outcome = show()
        endWaitingOffers(outcome)
    }

    func endWaitingOffers(_ outcome: Result<String, HostError>) {
        let waiting = waitingOffers.takeAll()
        armWaitingTimer()
        for waiter in waiting { waiter(outcome) }
    }

    // MARK: Carrying out

    func perform(_ actions: [DesktopOfferAction]) {
        for action in actions {
            switch action {
            case .startTimer(let delay): offerTimer.start(after: delay)
            case .stopTimer: offerTimer.stop()
            case .store(let device): store(device, for: .offer)
            case .sendConfirmation(let confirmation, let peer): greet(peer, confirmation)
            case .sendReject(let reject, let peer, let sealed): decline(peer, reject, sealed: sealed)
            case .sendICEConfig(let peer): sendICEConfig(to: peer)
            case .report(let state): report(state.data)
            }
        }
    }

    /// Tells a device, sealed, that it is paired.
    func greet(_ peer: PeerID, _ confirmation: PairingConfirmation) {
        if let link = link(to: peer) { _ = send(confirmation.json, to: peer, sealed: true, over: link) }
    }

    func decline(_ peer: PeerID, _ reject: PairingReject, sealed: Bool) {
        if let link = link(to: peer) { _ = send(reject.json, to: peer, sealed: sealed, over: link) }
    }

    /// There are none: the frame itself is the sign that a deployed phone waits for.
    func sendICEConfig(to peer: PeerID) {
        let greeting = ICEConfig(pcPeerID: peerID, iceServersJSON: "[]", timestamp: .now)
        if let link = link(to: peer) { _ = send(greeting.json, to: peer, over: link) }
    }
}
