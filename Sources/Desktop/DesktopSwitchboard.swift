import Commands
import Delivery
import History
import Hosting
import Identity
import JSON
import Notifications
import Pairing
import Peering
import Relay
import Sealing
import Signalling
import Store
import Transport
import Wire

/// The desktop on the event loop: owns the units, and routes events between them, the host and the relays.
///
/// No unit knows another one: what one of them puts out is handed on here. Every method runs on the loop and never
/// suspends.
@EventLoop
final class DesktopSwitchboard {
    nonisolated static let migrations =
        PairedDevices.migrations + History.migrations + UnpairNotices.migrations + AnswerTable.migrations
        + DeviceTokens.migrations

    private enum Phase {
        case stopped
        /// What is followed of the machine, where the options ask for it.
        case started(MachineWatch?)
        case closed
    }

    let options: DesktopOptions
    let identity: PairingIdentity
    let store: DeviceStore
    let devices: DeviceBook
    let routes: Routes
    let channel: PeerChannel
    let pairing: PairingCoordinator<PairedDevice>
    private let alias: TypedCodeAlias
    private let host: HostReports
    private let relay: EmbeddedRelay
    private let publisher = PushPublisher()
    private(set) lazy var commands = CommandServer(database: store.database, limiter: options.rateLimiter) {
        [weak self] output in self?.carryOut(output)
    }
    private(set) lazy var outboxes = OutboxSender(
        database: store.database, devices: devices,
        send: { [weak self] payload, device in self?.send(payload, to: device) ?? .offline },
        output: { [weak self] output in self?.carryOut(output) })
    private lazy var upkeep = HistoryUpkeep(database: store.database) { [weak self] output in self?.carryOut(output) }
    private var phase = Phase.stopped

    nonisolated init(
        _ options: DesktopOptions, _ state: RoleState, relay: EmbeddedRelay, devices: DeviceBook, host: HostReports,
        links: RelayLinkMaker
    ) {
        let common = options.common
        let info = PairingDeviceInfo(
            name: common.name, platform: common.platform, version: libraryVersion.description)
        self.options = options
        identity = PairingIdentity(did: PeerID(state.key.did), deviceInfo: info)
        store = DeviceStore(database: state.database)
        (self.devices, self.host, self.relay) = (devices, host, relay)
        routes = Routes(
            .desktop, links: links,
            registration: SignallingFrame.Register(
                peerID: identity.did, deviceType: .desktop,
                deviceInfo: ["name": .string(common.name), "platform": .string(common.platform)]),
            provingWith: state.key)
        channel = PeerChannel(key: state.key, seal: state.seal, database: state.database)
        pairing = PairingCoordinator([
            DesktopScanStateMachine(), DesktopTypedCodeStateMachine(), DesktopOfferStateMachine(),
        ])
        alias = TypedCodeAlias(links)
    }

    /// Before everything else, once.
    func connectUnits() {
        routes.handler = { [weak self] event in self?.received(event) }
        pairing.handler = { [weak self] event in self?.carryOut(event) }
        pairing.timeoutError = { [weak self] flow in self?.timeout(of: flow) ?? .closed }
        devicesChanged()
    }

    // MARK: Start and stop

    private var isStarted: Bool { if case .started = phase { true } else { false } }
    private var isClosed: Bool { if case .closed = phase { true } else { false } }
    private var machine: MachineWatch? { if case .started(let machine) = phase { machine } else { nil } }

    func start() throws(HostError) {
        guard !isClosed else { throw HostError(.closed, "the handle was closed") }
        guard !isStarted else { return }
        guard options.relay != nil || options.common.relayURL != nil else {
            throw HostError(.invalid, "the desktop has no relay; open it with \"relay\" or \"relay_url\"")
        }
        let machine = options.common.followsSystem ? followMachine() : nil
        do throws(HostError) {
            try relay.start(
                as: identity.deviceInfo.name, identity.did, on: machine?.bus, log: host.relayLog)
        } catch {
            machine?.stop()
            throw error
        }
        phase = .started(machine)
        upkeep.start()
        routes.start(standing: [relay.ownURL, options.common.relayURL].compactMap(\.self))
    }

    func stop() { if isStarted { end(.stopped, because: HostError(.offline, "the desktop was stopped")) {} } }

    func shutDown(then: @escaping @Sendable () -> Void) {
        end(.closed, because: .closed) { [relay, store] in relay.close { store.database.close(then: then) } }
        publisher.close()
        upkeep.stop()
        pairing.stopTimers()
    }

    private func end(_ phase: Phase, because reason: HostError, _ then: @escaping @EventLoop () -> Void) {
        machine?.stop()
        self.phase = phase
        for flow in [PairingFlow.offer, .code] { pairing.finish(flow, .failure(reason)) }
        pairing.cancel()
        outboxes.end()
        routes.stop()
        relay.stop(then: then)
    }

    private func followMachine() -> MachineWatch {
        MachineWatch(
            networkChanged: { [routes, alias] in
                routes.networkChanged()
                alias.networkChanged()
            },
            fallsAsleep: { [routes, alias] in
                routes.suspend()
                alias.suspend()
            },
            isAwake: { [routes, alias] in
                routes.resume()
                alias.resume()
            })
    }

    // MARK: Routes

    private func received(_ event: RouteEvent) {
        switch event {
        case .message(let message, let url): received(message, over: url)
        case .linkChanged(let url, let state):
            host.log(.info, state.summary(of: url))
            if state.isOnline {
                for peer in devices.reminders.due(over: url) { remind(peer, over: url) }
                servePairing()
            }
            pairing.linkChanged(url, state)
        case .reachable(let peer, _): outboxes.connected(peer)
        case .peerOnline(let peer, _): outboxes.heard(peer)
        case .lost(let peer, .disconnected): outboxes.disconnected(peer)
        case .lost(let peer, .absent): outboxes.wasCalledAbsent(peer)
        case .peerOffline(let peer, let url):
            // Also where it was called absent before: something new may have asked once more.
            if routes.isAbsent(peer) { outboxes.wasCalledAbsent(peer) }
            pairing.peerOffline(peer, over: url)
        case .connectionChanged(_, let connection): host.post(.connectionChanged, connection)
        case .refused(let text, let url):
            host.log(.warning, "the relay \(url) refused a frame")
            pairing.relayRefused(text, over: url)
        case .malformed(let error, let url): host.dropped(frame: error, over: url)
        case .invalidURL(let url, let message): host.log(.error, "\(url) is no relay's address: \(message)")
        }
    }

    private func received(_ message: RelayMessage, over url: String) {
        if pairing.hold(message, over: url) { return }
        let device = devices[message.from]
        let mayPair = device?.isSecure != true && mayPair(message.from)
        switch channel.open(message, of: PeerChannel.Sender(device), mayPair: mayPair) {
        case .ofPeer(let frame):
            if let device { received(frame, from: device, over: url) }
        case .ofStranger(let frame): receivedFromStranger(frame, isPaired: device != nil, over: url)
        case .plainOfSecure(let frame):
            if frame.type == PayloadType.pairAck { pairing.received(frame, isOfSecurePeer: true, over: url) }
        case .counted(.unknownSender): strangerSpoke(message.from, over: url)
        case .counted(.unopened(let error)): host.log(.warning, "a sealed frame was dropped: \(error.message)")
        }
    }

    /// Can a flow be waiting for something that this peer seals?
    private func mayPair(_ peer: PeerID) -> Bool {
        if case .sending(let offer) = pairing.machine(DesktopScanStateMachine.self).reported, offer.did == peer {
            return true
        }
        return pairing.machine(DesktopOfferStateMachine.self).isActive
            || pairing.machine(DesktopTypedCodeStateMachine.self).isActive
    }

    private func receivedFromStranger(_ frame: Incoming, isPaired: Bool, over url: String) {
        if pairing.received(frame, isOfSecurePeer: false, over: url) || frame.type == PayloadType.pairAck { return }
        channel.countUnknownSender()
        if frame.isSealed { return strangerSpoke(frame.from, over: url) }
        guard case .request(let request) = Payload(decoding: frame.payload) else { return }
        let asked = DeviceRequest(
            request.answerable, from: frame.from, over: url, isSecure: false, isBellwire: false,
            revocation: RevocationFlag())
        respond(.error(.notPaired), to: asked)
    }

    // MARK: What devices say

    private func received(_ frame: Incoming, from device: PairedDevice, over url: String) {
        let (did, mark) = (device.did, frame.mark)
        let payload = Payload(decoding: frame.payload)
        // A plain ack proves nothing of who is there.
        if !frame.isSealed, case .pairAck = payload {
            pairing.received(frame, isOfSecurePeer: false, over: url)
            return routes.heard(did, over: url, isLive: false)
        }
        heard(frame, from: did, over: url)
        switch payload {
        case .request(let request):
            touch(device, request.form)
            guard let device = devices[did], let session = devices.session(did) else { return }
            commands.received(
                request, from: device, session, over: url, mark: mark, roster: devices.roster, at: .now)
        case .bellwire(PushAcknowledgement.type, let fields):
            guard let mark, let acknowledgement = PushAcknowledgement(payload: fields) else { return once(mark) }
            outboxes.acknowledged(through: acknowledgement.pushSeq, isHello: false, by: did, mark)
        case .bellwire(PairingHello.type, let fields):
            pairing.received(frame, isOfSecurePeer: device.isSecure, isRecorded: frame.isSealed, over: url)
            guard let mark, let hello = try? PairingHello(payload: fields), PushSeq.isOne(hello.lastPushSeq) else {
                return once(mark)
            }
            outboxes.acknowledged(through: hello.lastPushSeq, isHello: true, by: did, mark)
        case .pairAck, .pairingReject:
            pairing.received(frame, isOfSecurePeer: device.isSecure, isRecorded: frame.isSealed, over: url)
            once(mark)
        case .bellwire(Unpair.type, _): if let mark { unpaired(by: device, mark) }
        case .bellwire(PushTokenStatement.givenType, let fields):
            received(PushTokenStatement.givenType, fields, from: device, mark)
        case .bellwire(PushTokenStatement.removedType, let fields):
            received(PushTokenStatement.removedType, fields, from: device, mark)
        case .bellwire(PushReceipt.type, let fields): received(receipt: fields, from: did, mark)
        case .malformed(let malformed): received(malformed, from: device, mark, over: url)
        case .cancel, .response, .event, .pairingConfirmation, .iceConfig: once(mark)
        case .other(let type, let value):
            once(mark) { core in core.host.command(type, ["payload": value], from: did) }
        case .bellwire(let type, let fields):
            once(mark) { core in core.host.command(type, ["payload": .object(fields)], from: did) }
        case .otherEvent(let name, let fields):
            once(mark) { core in
                core.host.command(
                    PayloadType.event, ["event": .string(name), "payload": .object(fields)], from: did)
            }
        }
    }

    private func heard(_ frame: Incoming, from device: PeerID, over url: String) {
        routes.heard(device, over: url, isLive: frame.isLive)
        // What a relay had kept does not tell that the device is there.
        guard frame.isLive else { return }
        outboxes.heard(device)
        guard let sealedAt = frame.sealedAt else { return }
        devices.update(device) { $0.clockLead.note(sealedAt: sealedAt, now: .now) }
    }

    /// Now and then the store hears that a device was there, and at once when its form has changed.
    private func touch(_ device: PairedDevice, _ form: PayloadForm) {
        let isChanged = device.payloadForm != form
        let isDue = devices.update(device.did) { $0.lastSeen.isDue(at: EventLoop.now, always: isChanged) }
        guard isDue == true else { return }
        store.touch(device.did, form: form) { [devices] result in
            // Not if it was unpaired meanwhile.
            if case .success(let stored?) = result, devices.contains(stored.did) { devices.put(stored) }
        }
    }

    private func received(_ malformed: MalformedPayload, from device: PairedDevice, _ mark: SealMark?, over url: String)
    {
        host.dropped(payload: "a payload from a device was dropped: \(malformed)")
        guard let request = malformed.request, let session = devices.session(device.did) else { return once(mark) }
        let asked = DeviceRequest(
            request, from: device.did, over: url, isSecure: device.isSecure, isBellwire: device.isSecure,
            revocation: session.revocation)
        let error = RemoteError(.invalidRequest, malformed.description)
        once(mark) { core in core.respond(.error(error), to: asked) }
    }

    private func received(_ type: String, _ fields: JSONObject, from device: PairedDevice, _ mark: SealMark?) {
        guard let mark else { return }
        guard let statement = PushTokenStatement(type: type, payload: fields, of: [device.deviceID, device.did.text])
        else {
            host.dropped(payload: "a device's push token was dropped: it is malformed, or another device's")
            return once(mark)
        }
        store.apply(statement, mark) { [channel, host] result in
            switch result {
            case .success(true): break
            case .success(false): channel.countReplay()
            case .failure(let error): host.storeFailed("a device's push token was dropped", error)
            }
        }
    }

    private func received(receipt fields: JSONObject, from device: PeerID, _ mark: SealMark?) {
        guard let mark else { return }
        guard let receipt = PushReceipt(payload: fields) else {
            host.dropped(payload: "a device's receipt was dropped: it is malformed")
            return once(mark)
        }
        // Each is an event for the host: they count as commands do.
        guard commands.allows(device) else { return once(mark) }
        once(mark) { core in core.host.presented(receipt, by: device) }
    }

    /// A frame has an effect once: what it brings about comes after it was recorded.
    private func once(
        _ mark: SealMark?, then: @escaping @Sendable @EventLoop (DesktopSwitchboard) -> Void = { _ in }
    ) {
        channel.once(mark) { [self] once in
            switch once {
            case .first: then(self)
            case .replayed: break
            case .failed(let error): host.storeFailed("what a device sent was dropped", error)
            }
        }
    }

    // MARK: What the units put out

    private func carryOut(_ output: CommandServer.Output) {
        switch output {
        case .answer(let outcome, .host(let call)): publisher.answered(call, outcome)
        case .answer(let outcome, .device(let request)): respond(outcome, to: request)
        case .refuse(let error, let request, let mark):
            once(mark) { core in core.respond(.error(error), to: request) }
        case .push(let event, let seqs, let ticket):
            outboxes.push(event, numbered: seqs, ticket, isOnline: routes.isAnyOnline)
        case .show(let notification): host.show(notification)
        case .announce(let announcement):
            // Only Bellwire devices understand it. One that is away asks for the history when it comes.
            for device in announcement.devices where devices.isSecure(device) {
                _ = channel.send(
                    announcement.event.payload, to: device, sealed: true, over: routes.bestLink(to: device))
            }
            host.announce(announcement.event)
        case .unread(let unread): host.unread(unread)
        case .replayed: channel.countReplay()
        case .problem(let message): host.storeFailed(message)
        }
    }

    private func carryOut(_ output: OutboxSender.Output) {
        switch output {
        case .delivered(let ticket, let peers): commands.delivered(ticket, to: peers)
        case .replayed: channel.countReplay()
        case .full: host.outboxIsFull(Outbox.limit)
        case .problem(let message): host.storeFailed(message)
        case .warning(let message): host.log(.warning, message)
        }
    }

    private func carryOut(_ output: HistoryUpkeep.Output) {
        switch output {
        case .unread(let unread): host.unread(unread)
        case .problem(let message): host.storeFailed(message)
        }
    }

    private func send(_ payload: JSONValue, to device: PairedDevice) -> Sent {
        let did = device.did
        guard routes.isAbsent(did) else {
            return channel.send(payload, to: did, sealed: device.isSecure, over: routes.bestLink(to: did))
        }
        // Called absent everywhere: each relay is asked once more.
        return routes.onlineLinks.reduce(.offline) { sent, route in
            let next = channel.send(payload, to: did, sealed: device.isSecure, over: route.link)
            return sent.isWritten ? sent : next
        }
    }

    /// Over the connection that the request came by, else over the device's best.
    private func respond(_ outcome: CommandResponse.Outcome, to request: DeviceRequest) {
        let link = routes.link(request.route, orBestOf: request.device)
        let sent = channel.send(
            request.response(outcome), to: request.device, sealed: request.isSecure, over: link)
        if let failure = sent.failure(of: "an answer", to: "the device") {
            host.log(.warning, "an answer could not be sent: \(failure.message)")
        }
    }
}
