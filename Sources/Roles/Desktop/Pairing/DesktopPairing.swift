import Hosting
import Identity
import JSON
import Pairing
import Peering
import Sealing
import Signalling
import Store
import Transport
import Wire

/// The desktop's three ways to pair (WirePairing, "Overview"): it shows a QR code, scans a device's, or shows a code to
/// type, for which it holds an alias at a relay.
@EventLoop
final class DesktopPairing {
    typealias Flows = PairingCoordinator<PairedDevice>

    /// The state of the desktop's relays, as pairing needs it.
    struct Relays {
        var isOnline = false
        /// The relay that devices know without a code, if the desktop is registered there.
        var alias: String?
        /// Who names senders there, as far as is known.
        var naming = SenderNaming.unknown
        /// What a code names.
        var offered: String?
        /// Why the desktop is not registered with any relay, for error messages.
        var problem: String?

        init() {}

        /// - Parameter common: the relay that devices know without a code; else they know the desktop's own.
        @EventLoop
        init(_ routes: Routes, _ relay: EmbeddedRelay, common: String?) {
            isOnline = routes.isAnyOnline
            alias = [common, relay.ownURL].compactMap(\.self).first { url in
                routes.isOnline(RouteID(url)) && routes.isRelay(RouteID(url))
            }
            naming = alias.map { routes.naming(of: RouteID($0)) } ?? .unknown
            offered = relay.offeredURL
            problem = routes.connection(of: nil)["routes"]?.array?.lazy.compactMap { $0["problem"]?.string }.first
        }
    }

    let flows: Flows
    private let context: DesktopContext
    private let devices: DeviceBook
    private let host: HostReports
    private let routes: Routes
    private let channel: PeerChannel
    private let alias: TypedCodeAlias
    private let paired: @EventLoop (PairedDevice, SignOfLife?) -> Void
    private let withdraw: @EventLoop (PeerID) -> Void
    private let received: @EventLoop (PeerMessage, RouteID) -> Void
    private var relays = Relays()
    /// The last live frame of a pairing.
    private var lastFrame: (peer: PeerID, sign: SignOfLife)?

    /// A device was there at that time, in the loop's milliseconds.
    struct SignOfLife {
        let route: RouteID
        let at: UInt64
    }

    /// - Parameters:
    ///   - paired: the pairing is in the store.
    ///   - withdraw: the device believes it is paired, but is not.
    ///   - received: what came of a device while its pairing was being stored.
    init(
        _ context: DesktopContext, _ devices: DeviceBook, _ host: HostReports, _ routes: Routes, _ channel: PeerChannel,
        paired: @escaping @EventLoop (PairedDevice, SignOfLife?) -> Void,
        withdraw: @escaping @EventLoop (PeerID) -> Void,
        received: @escaping @EventLoop (PeerMessage, RouteID) -> Void
    ) {
        (self.context, self.devices, self.host) = (context, devices, host)
        (self.routes, self.channel) = (routes, channel)
        (self.paired, self.withdraw, self.received) = (paired, withdraw, received)
        // In the order in which they are offered a frame; the code in an ack says which one it belongs to.
        flows = Flows(
            [DesktopScanStateMachine(), DesktopTypedCodeStateMachine(), DesktopOfferStateMachine()], routes, channel)
        alias = TypedCodeAlias(context.links)
        flows.role = self
        flows.timeoutError = { [weak self] flow in self?.timeout(of: flow) ?? .closed }
    }

    private var identity: PairingIdentity { context.identity }
    private var options: DesktopOptions { context.options }

    // MARK: The host

    /// `then` gets the code, once a relay has the desktop registered.
    func offer(timeout: CallTimeout, _ then: @escaping Then) {
        flows.wait(for: .offer, timeout.milliseconds, then)
        serve()
    }

    /// `then` gets the code, once its alias is the desktop's.
    func code(timeout: CallTimeout, _ then: @escaping Then) {
        flows.wait(for: .code, timeout.milliseconds, then)
        serve()
    }

    /// `then` gets the device that shows the code; the rest is reported.
    func scan(_ text: String, _ then: Then) {
        if let offer = try? DevicePairingOffer(parsing: text, now: .now), channel.isRevoked(offer.did) {
            return then(.failure(.revokedKey))
        }
        let securePeers = Set(devices.all.lazy.filter(\.isSecure).map(\.did))
        var outcome: Result<HostReply, HostError> = .failure(.closed)
        flows.change(DesktopScanStateMachine.self) { machine in
            let actions = machine.scan(
                text, identity: identity, legacy: options.legacyPairing, securePeers: securePeers, now: .now)
            outcome = machine.reported.outcome
            return actions
        }
        then(outcome)
    }

    /// The user's answer; `nil` = in the only flow that asks.
    func confirm(_ flow: PairingFlow?, accept: Bool, _ then: Then) { flows.answer(flow, accept: accept, then) }

    /// Ends a flow, or with `nil` all three.
    func cancel(_ flow: PairingFlow?) {
        let cancelled = HostError(PairingFailure(.cancelled))
        for flow in flow.map({ [$0] }) ?? [.offer, .scan, .code] {
            flows.finish(flow, .failure(cancelled))
            flows.cancel(flow)
        }
    }

    /// The desktop goes offline.
    func end(_ reason: HostError) {
        for flow in [PairingFlow.offer, .code] { flows.finish(flow, .failure(reason)) }
        flows.cancel()
        alias.close()
    }

    /// For good: no timer fires any more.
    func close() { flows.stopTimers() }

    // MARK: What is so

    var offering: DesktopOfferStateMachine { flows.machine(DesktopOfferStateMachine.self) }
    /// Pairing frames that were dropped.
    var dropped: Int { flows.dropped }
    func isAwaited(_ flow: PairingFlow) -> Bool { flows.isAwaited(flow) }

    /// Whether a flow may wait for a sealed frame from this peer, which has no encrypted pairing.
    func mayPair(_ peer: PeerID) -> Bool {
        flows.isActive && (isTelling(peer) || offering.isActive || coding.isActive)
    }

    /// Whether the device is being told that its code was scanned. It may be paired there before it is here, so nothing
    /// that it says now means that it has missed an unpairing.
    func isTelling(_ peer: PeerID) -> Bool {
        guard case .sending(let offer) = flows.machine(DesktopScanStateMachine.self).reported else { return false }
        return offer.did == peer
    }

    private var coding: DesktopTypedCodeStateMachine { flows.machine(DesktopTypedCodeStateMachine.self) }

    // MARK: Relays and frames

    func relaysChanged(_ now: Relays) {
        relays = now
        serve()
    }

    func peerOffline(_ peer: PeerID, over route: RouteID) { flows.peerOffline(peer, over: route) }
    func relayRefused(_ detail: String, over route: RouteID) { flows.relayRefused(detail, over: route) }

    /// Keeps a frame from a device while its pairing is being stored. `false` = it is not being stored; handle the
    /// frame now.
    func hold(_ message: PeerMessage, over route: RouteID) -> Bool { flows.hold(message, over: route) }

    /// `true` = a flow has taken the frame.
    @discardableResult
    func received(_ frame: Incoming, isOfSecurePeer: Bool, over route: RouteID) -> Bool {
        if frame.isLive { lastFrame = (frame.from, SignOfLife(route: route, at: EventLoop.now)) }
        // The mark of a device that is paired sealed is recorded in any case.
        return flows.received(
            frame, isOfSecurePeer: isOfSecurePeer, isRecorded: isOfSecurePeer && frame.isSealed, over: route)
    }

    // The machine sleeps, and wakes, with its network.
    func suspend() { alias.suspend() }
    func resume() { alias.resume() }
    func networkChanged() { alias.networkChanged() }

    /// The device was unpaired.
    func removed(_ peer: PeerID) { flows.removed(peer) }

    /// All were unpaired, also those who are being stored for the first time.
    func removedAll(_ peers: [PeerID]) { flows.removedAll(peers) }

    // MARK: Codes

    /// Shows what is waited for, once a relay has the desktop registered. Those who ask for the same get the same.
    private func serve() {
        // A device that is being stored gets its confirmation first.
        if flows.isAwaited(.offer), relays.isOnline, !offering.isStoring { flows.finish(.offer, .success(showOffer())) }
        if flows.isAwaited(.code), relays.alias != nil, !coding.isBusy { showCode() }
    }

    private func showOffer() -> HostReply {
        let offer = DesktopPairingOffer(
            code: flows.newCode(for: .offer), pcPeerID: identity.did, deviceInfo: identity.deviceInfo, timestamp: .now,
            signalingURL: relays.offered ?? options.common.relayURL, relayURL: options.common.relayURL,
            seal: PairingSeal(
                secret: PairingSecret.random().base64url, confirm: options.confirms, hasRevision: true,
                versions: .own))
        flows.change(DesktopOfferStateMachine.self) {
            $0.show(offer, confirm: options.confirms, legacy: options.legacyPairing)
        }
        return HostReply([
            "payload": .string(offer.serialized()), "code": .string(offer.code.digits),
            "expiresAt": .integer(offer.timestamp &+ DesktopPairingOffer.lifetime),
        ])
    }

    private func showCode() { show(nameplate: flows.newCode(for: .code), password: .random()) }

    /// Shows this code. A test's; else ``code(timeout:_:)`` makes one.
    func show(
        nameplate: PairingCode, password: PairingCode,
        pauses: [EpochMilliseconds] = DesktopTypedCodeStateMachine.pauses
    ) {
        flows.change(DesktopTypedCodeStateMachine.self) {
            $0.show(
                nameplate: nameplate, password: password, identity: identity, confirm: options.confirms,
                legacy: options.legacyPairing, pauses: pauses)
        }
    }

    private func timeout(of flow: PairingFlow) -> HostError {
        if flow == .code, relays.isOnline {
            return HostError(.timeout, "the relay did not register the code in time")
        }
        let problem = relays.problem.map { ": \($0)" } ?? ""
        return HostError(.offline, "no relay registered the desktop in time\(problem)")
    }

    // MARK: The alias

    private func openAlias(_ id: PeerID) {
        do throws(HostError) {
            guard let url = relays.alias else {
                throw HostError(.offline, "the desktop is not registered with any relay")
            }
            try alias.open(id, at: url, naming: relays.naming) { [weak self] event in
                self?.received(event, atAlias: RouteID(url))
            }
        } catch {
            flows.change(DesktopTypedCodeStateMachine.self) { $0.aliasFailed(detail: error.message, isFinal: true) }
        }
    }

    private func received(_ event: LinkEvent, atAlias route: RouteID) {
        switch event {
        case .stateChanged(.online):
            flows.change(DesktopTypedCodeStateMachine.self) { $0.aliasOnline(now: .now) }
        case .stateChanged(.offline(let reason)) where reason.code == .idTaken:
            let nameplate = flows.newCode(for: .code)
            flows.change(DesktopTypedCodeStateMachine.self) {
                $0.aliasTaken(newNameplate: nameplate, newPassword: .random())
            }
        case .stateChanged(.offline(let reason)):
            flows.change(DesktopTypedCodeStateMachine.self) { $0.aliasFailed(detail: reason.message) }
        case .message(let message):
            let isSealed = message.isSealed || message.payload["type"]?.string == SealedEnvelope.type
            receivedAtAlias(message.payload, from: message.from, isSealed: isSealed, message.delivery, over: route)
        case .routed(let frame, let delivery):
            guard let from = frame.from else { return }
            receivedAtAlias(.object(frame.members), from: from, isSealed: false, delivery, over: route)
        case .stateChanged(.connecting), .stateChanged(.registering), .peerOffline, .peerStatus, .peers,
            .absenceReporting, .senderNaming, .refused:
            break
        case .malformed(let error): host.dropped(frame: error, from: routes.address(of: route))
        }
    }

    private func receivedAtAlias(
        _ payload: JSONValue, from peer: PeerID, isSealed: Bool, _ delivery: SignallingDelivery, over route: RouteID
    ) {
        if channel.isRevoked(peer) { return channel.countRevoked() }
        if delivery == .live { lastFrame = (peer, SignOfLife(route: route, at: EventLoop.now)) }
        let frame = PairingFrame(
            reading: payload, from: peer, isSealed: isSealed, isOfSecurePeer: devices.isSecure(peer),
            delivery: delivery)
        var generator = SecureRandomNumberGenerator()
        if frame.payload["type"]?.string == PayloadType.pairAck {
            // Anybody may send one: only a device that is taken up on it is remembered, and before it is answered.
            var trial = coding
            if trial.receivedAtAlias(frame, now: .now, using: &generator).contains(where: \.isAck) {
                flows.note(peer, over: route)
            }
        }
        flows.change(DesktopTypedCodeStateMachine.self) { $0.receivedAtAlias(frame, now: .now, using: &generator) }
    }
}

extension DesktopPairing: PairingRole {
    func perform(_ step: PairingStep<PairedDevice>) {
        switch step {
        case .report(let state):
            if case .desktopScan(.sending(let offer)) = state, !devices.contains(offer.did),
                let key = flows.machine(DesktopScanStateMachine.self).presharedKey
            {
                // It may be paired there and not here: then it is told so, which takes the key.
                channel.sessions?.expect(offer.did, key)
            }
            host.post(.pairingChanged, state.data)
        case .send(let content, let peer, _, _): alias.send(content.json, to: peer)
        case .openAlias(let id): openAlias(id)
        case .closeAlias: alias.close()
        case .withdraw(let peer): withdraw(peer)
        // The coordinator's, or a device's.
        case .open, .close, .sendHello, .startTimer, .stopTimer, .store: break
        }
    }

    func store(_ record: PairingRecord<PairedDevice>) {
        context.store.pair(record) { [self] result in
            flows.stored(record, result) { device, mark in
                if device.isSecure { channel.keep(device.did, since: mark, presharedKey: record.presharedKey) }
                paired(device, lastFrame?.peer == device.did ? lastFrame?.sign : nil)
                if let mark { devices.update(device.did) { $0.prove(mark) } }
                if let route = record.route { routes.heard(device.did, over: route, isLive: false) }
                // The device begins by itself, but its first frames may be lost.
                if record.presharedKey != nil {
                    channel.sessions?.ask(device.did, over: record.route.flatMap { routes.link($0) })
                }
            }
            serve()
            if devices.contains(record.peer.did) { host.devices(devices.json) }
        }
    }

    func receive(_ message: PeerMessage, over route: RouteID) { received(message, route) }
}

extension PairingStep {
    fileprivate var isAck: Bool { if case .report(.desktopCode(.acked)) = self { true } else { false } }
}

extension DesktopScanState {
    /// What the host gets that has given the code.
    fileprivate var outcome: Result<HostReply, HostError> {
        switch self {
        case .failed(let failure): .failure(HostError(failure))
        case .expired: .failure(HostError(PairingFailure(.expired)))
        case .idle, .cancelled: .failure(HostError(PairingFailure(.cancelled)))
        case .scanned, .confirming, .sending, .paired: .success(HostReply(data["device"] ?? .null))
        }
    }
}

extension DesktopOfferStateMachine {
    /// Is a device that has taken the offer on its way to the disk?
    fileprivate var isStoring: Bool { if case .acked(_, nil) = reported { true } else { false } }
}

extension DesktopTypedCodeStateMachine {
    /// Is a code about to be shown, or a device that has typed one on its way to the disk?
    fileprivate var isBusy: Bool {
        switch reported {
        case .connecting, .acked(_, nil): true
        case .idle, .displaying, .acked(_, .some), .paired, .expired, .cancelled, .failed: false
        }
    }
}

extension PairingCode {
    fileprivate static func random() -> PairingCode {
        var generator = SecureRandomNumberGenerator()
        return PairingCode(using: &generator)
    }
}
