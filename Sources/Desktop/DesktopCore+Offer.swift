import Hosting
import Identity
import JSON
import Pairing
import Relay
import Signalling
import Store
import Transport
import Wire

// Flow B: the machine decides, this carries out (protocol.md 2).
extension DesktopCore {
    func offer(timeout: Int64, _ then: @escaping Then) {
        do throws(HostError) { try start() } catch { return then(.failure(error)) }
        guard !isOnline else { return then(show()) }
        waitingOffers.add(until: EventLoop.now &+ UInt64(clamping: timeout), then)
        armWaitingTimer()
    }

    func cancelOffer() {
        endWaitingOffers(
            .failure(HostError(.pairing, PairingReason.cancelled.message, detail: ["reason": "cancelled"])))
        perform(offering.cancel())
    }

    func confirm(_ accept: Bool, _ then: Then) {
        switch offering.answer(accept: accept) {
        case .nothingWaits:
            then(.failure(HostError(.notFound, "no device waits to be confirmed")))
        case .taken(let actions):
            then(.success("{}"))
            perform(actions)
        }
    }

    func offerTimedOut() { perform(offering.timedOut()) }

    private var isOnline: Bool { links.values.contains { $0.state.isOnline } }

    private func show() -> Result<String, HostError> {
        var generator = SecureRandomNumberGenerator()
        let address = relay.flatMap { relay in options.relay.map { LocalRelayAddress($0, port: relay.port) } }
        let offer = DesktopPairingOffer(
            code: PairingCode(using: &generator), pcPeerID: peerID,
            deviceInfo: PairingDeviceInfo(
                name: options.common.name, platform: options.common.platform, version: libraryVersion.description),
            timestamp: .now, signalingURL: options.signalingURL ?? address?.lan, relayURL: options.common.relayURL)
        perform(
            offering.show(
                offer, confirm: options.confirms,
                legacy: LegacyPairing(rawValue: options.common.legacy.rawValue) ?? .none))
        return .success(
            JSONValue.object([
                "payload": .string(offer.serialized()), "code": .string(offer.code.digits),
                "expiresAt": .integer(offer.timestamp &+ DesktopPairingOffer.lifetime),
            ]).serialized())
    }

    // MARK: Waiting for a relay

    func serveWaitingOffers() {
        guard isOnline, !waitingOffers.isEmpty else { return }
        // They asked for the same: one offer answers all.
        let outcome = show()
        endWaitingOffers(outcome)
    }

    func expireWaitingOffers() {
        let expired = waitingOffers.takeExpired(now: EventLoop.now)
        armWaitingTimer()
        let problem = connection["routes"]?.array?.lazy.compactMap { $0["problem"]?.string }.first
        let message = "no relay has registered the desktop in time" + (problem.map { ": \($0)" } ?? "")
        for waiter in expired { waiter(.failure(HostError(.offline, message))) }
    }

    func endWaitingOffers(_ outcome: Result<String, HostError>) {
        let waiting = waitingOffers.takeAll()
        armWaitingTimer()
        for waiter in waiting { waiter(outcome) }
    }

    private func armWaitingTimer() { waitingTimer.start(at: waitingOffers.nextDeadline) }

    // MARK: Carrying out

    func perform(_ actions: [DesktopOfferAction]) {
        for action in actions {
            switch action {
            case .startTimer(let delay): offerTimer.start(after: delay)
            case .stopTimer: offerTimer.stop()
            case .store(let device): store(device)
            case .sendReject(let reject, let peer, _): _ = link(to: peer)?.send(to: peer, payload: reject.json)
            case .sendConfirmation(let confirmation, let peer):
                _ = link(to: peer)?.send(to: peer, payload: confirmation.json)
            case .sendICEConfig(let peer):
                let greeting = ICEConfig(pcPeerID: peerID, iceServersJSON: "[]", timestamp: .now)
                _ = link(to: peer)?.send(to: peer, payload: greeting.json)
            case .report(let state):
                channel.post(HostEvent(.pairingChanged, data: state.data))
                // Offers are not sealed yet, so every ack asks: where the host did not ask for that, it is accepted.
                if case .acked(_, .some) = state, !options.confirms,
                    case .taken(let more) = offering.answer(accept: true)
                {
                    perform(more)
                }
            }
        }
    }

    private func link(to peer: PeerID) -> RelayConnection? {
        heardOver[peer].flatMap { links[$0] } ?? links.values.first { $0.state.isOnline }
    }

    private func store(_ device: PairedDevice) {
        store { (connection) throws(StoreError) in
            try PairedDevices(connection).upsert(device)
        } then: { core, result in
            switch result {
            case .success(let stored):
                core.replace(stored)
                core.perform(core.offering.stored(stored, now: .now))
            case .failure(let error):
                core.perform(core.offering.storeFailed(device.did, detail: error.message))
            }
        }
    }
}
