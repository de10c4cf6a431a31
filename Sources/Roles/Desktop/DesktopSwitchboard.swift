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
        + DeviceTokens.migrations + DevicePrekeyTable.migrations + PairingCopy.migrations

    let context: DesktopContext
    let host: HostReports
    let life: DesktopLife
    private let publisher = PushPublisher()
    let devices: DeviceBook
    let routes: Routes
    let channel: PeerChannel
    private(set) lazy var commands = CommandServer(
        database: store.database, devices: devices, limiter: context.options.rateLimiter, host,
        output: { [weak self] output in self?.carryOut(output) })
    private(set) lazy var outboxes = OutboxSender(
        database: store.database, devices: devices, epoch: channel.epoch, host,
        send: { [weak self] payload, device in self?.sender.send(payload, to: device) ?? .offline },
        isUp: { [routes] in routes.isOnline($0) },
        delivered: { [weak self] ticket, peers in self?.commands.delivered(ticket, to: peers) })
    private(set) lazy var pairing = DesktopPairing(
        context, devices, host, routes, channel, paired: { [weak self] in self?.take($0, $1) },
        withdraw: { [weak self] in self?.withdraw($0) }, received: { [weak self] in self?.received($0, over: $1) })
    private(set) lazy var services = PushServices(context, devices, channel, host) { [weak self] in
        self?.sender.sendInSession($0.json, to: $1)
    }
    private lazy var schedule = PushSchedule(store.database, host) { [weak self, devices] push in
        self?.commands.execute(push, roster: devices.roster, at: .now)
    }

    nonisolated var store: DeviceStore { context.store }
    private var sender: PeerSender { PeerSender(routes: routes, channel: channel) }
    private var reminders: ReminderSender { ReminderSender(devices: devices, sender: sender) }
    var records: DeviceRecords { DeviceRecords(store: store, devices: devices) }

    nonisolated init(
        _ options: DesktopOptions, _ state: RoleState, relay: EmbeddedRelay, devices: DeviceBook, host: HostReports,
        links: RelayLinkMaker, kinds: [RouteKind]
    ) {
        context = DesktopContext(options, state, links: links)
        (self.devices, self.host) = (devices, host)
        life = DesktopLife(context, relay, host)
        routes = Routes(.desktop, of: context.identity.did, kinds: kinds + [context.relays])
        channel = PeerChannel(key: state.key, seal: state.seal, database: state.database, role: .responder)
    }

    /// Before everything else, once.
    func open() {
        devices.open()
        routes.handler = { [weak self] event in self?.received(event) }
        channel.handleSessions { [host, devices] _ in host.devices(devices.json) }
        // The channel's handler holds the devices.
        devices.sealStatus = { [weak channel] in channel?.sealStatus(of: $0) }
        devices.isForgeable = { [weak routes] in routes?.isForgeable($0) == true }
        channel.moves.attach(to: routes, peers: devices.movable) { [weak self] in self?.carryOut($0) }
        routes.setPeers(devices.routed)
    }

    // MARK: Start and stop

    func start() throws(HostError) {
        guard try life.start(watching: { MachineWatch(routes, pairing) }) else { return }
        schedule.start()
        routes.start(standing: life.relayURLs)
    }

    func stop() {
        if life.isStarted { end(isForGood: false, because: HostError(.offline, "the desktop was stopped")) {} }
    }

    func shutDown(then: @escaping @Sendable () -> Void) {
        publisher.close()
        channel.moves.close()
        schedule.stop()
        end(isForGood: true, because: .closed) { [life, store] in
            life.relay.close { store.database.close(then: then) }
        }
        pairing.close()
    }

    private func end(isForGood: Bool, because reason: HostError, _ then: @escaping @EventLoop () -> Void) {
        life.end(isForGood: isForGood)
        pairing.end(reason)
        outboxes.end()
        routes.stop()
        life.relay.stop(then: then)
    }

    // MARK: The host

    func execute(_ begin: (PushPublisher) -> OwnCall?) {
        if let call = begin(publisher) { commands.execute(call, roster: devices.roster, at: .now) }
    }

    func rename(_ device: PeerID, to name: String, _ then: @escaping Then) {
        guard !life.isClosed else { return then(.failure(.closed)) }
        records.rename(device, to: name) { [devices, host] error in
            if error == nil { host.devices(devices.json) }
            then(error.map { .failure($0) } ?? .success(.done))
        }
    }

    func describe(_ then: Then) {
        let counters = DesktopCounters(
            commands: commands.counters, channel: channel.counters, malformed: host.malformed,
            pairingFrames: pairing.dropped, staleAcknowledgements: outboxes.staleAcknowledgements)
        let state = DesktopState(
            identity: context.identity, life: life, devices: devices, routes: routes, unread: host.unread,
            offer: pairing.offering, counters: counters)
        then(.success(HostReply(state.json)))
    }

    // MARK: Devices come and go

    var unpairing: DeviceUnpairing {
        DeviceUnpairing(life: life, devices: devices, store: store) { [self] in act($0) }
    }

    var revocation: DeviceRevocation {
        DeviceRevocation(
            own: context.identity.did, life: life, devices: devices, store: store, channel: channel
        ) { [self] in act($0) }
    }

    private func act(_ action: DeviceUnpairing.Action) {
        switch action {
        case .leaving(let gone, let everybody):
            if everybody { pairing.removedAll(devices.ids) }
            for device in gone where device.isSecure {
                // It may have switched to another key in the meantime.
                let ids = channel.moves.successors(of: device.did)
                channel.sessions?.end(device.did, ids)
                for id in [device.did] + ids { reminders.begin(id) }
            }
            for device in gone { forget(device.did, isTold: device.isSecure) }
            if !gone.isEmpty { host.devices(devices.json) }
        case .stayed(let devices):
            for device in devices { take(device, nil) }
            if !life.isClosed { host.devices(self.devices.json) }
        }
    }

    private func act(_ action: DeviceRevocation.Action) {
        switch action {
        case .refused(let key): pairing.removed(key)
        case .left(let device):
            forget(device, isTold: true)
            host.devices(devices.json)
        case .readmitted(let key): reminders.begin(key)
        }
    }

    private func act(_ action: DeviceMove.Action) {
        switch action {
        case .replace(let old, let device):
            if let session = devices.session(old) { outboxes.forget(old, session) }
            devices.replace(old, by: device)
            commands.moved(old, to: device.did)
            pairing.removed(old)
            routes.setPeers(devices.routed)
            host.devices(devices.json)
        case .stored(let move, let position):
            outboxes.moved(move.new, position, isOnline: routes.isAnyOnline)
            channel.moves.stored(move)
            channel.sessions?.ask(move.new, over: routes.bestLink(to: move.new))
        case .failed(let move): if routes.isAnyOnline { outboxes.connected(move.old) }
        case .settled(let move): commands.settled(move)
        }
    }

    /// From now on the device has no rights, and nothing is sent to it.
    private func forget(_ device: PeerID, isTold: Bool = false) {
        guard let session = devices.forget(device) else { return }
        commands.forget(session)
        outboxes.forget(device, session)
        pairing.removed(device)
        channel.forget(device, isTold: isTold)
        routes.setPeers(devices.routed)
    }

    private func take(_ device: PairedDevice, _ sign: DesktopPairing.SignOfLife?) {
        devices.put(device)
        outboxes.paired(device, isOnline: routes.isAnyOnline)
        routes.setPeers(devices.routed)
        if let sign { outboxes.heard(device.did, over: sign.route, at: sign.at) }
    }

    /// The device is not paired any more, and isn't told.
    private func left(_ device: PeerID) {
        forget(device)
        host.devices(devices.json)
    }

    // MARK: Routes

    private func received(_ event: RouteEvent) {
        switch event {
        case .message(let message, let route): received(message, over: route)
        case .linkChanged(let route, let state):
            host.log(.info, state.summary(of: routes.address(of: route)))
            if state.isOnline { reminders.connected(over: route) }
            if state.isOnline { channel.moves.connected() }
            if state.isOnline { commands.settled(route, routes.naming(of: route)) }
            pairing.relaysChanged(DesktopPairing.Relays(routes, life.relay, common: context.options.common.relayURL))
        case .reachable(let device, let route): outboxes.connected(device, over: route)
        case .peerInfo: break
        case .absenceReporting(let device, let reporting, let route): outboxes.routed(device, over: route, reporting)
        case .senderNaming(let naming, let route):
            commands.settled(route, naming)
            if naming == .bySender { host.devices(devices.json) }
        case .peerOnline(let device, let route):
            outboxes.heard(device, over: route)
            channel.moves.begun(device)
        case .lost(let device, .disconnected): outboxes.disconnected(device)
        case .lost(let device, .absent): outboxes.wentOffline(device)
        case .peerOffline(let peer, let route):
            // Also if it was reported offline before: a newer request may wait for an answer.
            if routes.isAbsent(peer) { outboxes.wasCalledAbsent(peer) } else { outboxes.wasReturned(peer, over: route) }
            pairing.peerOffline(peer, over: route)
        case .connectionChanged(_, let connection): host.post(.connectionChanged, connection)
        case .refused(let text, let route):
            host.log(.warning, "the relay \(WebSocketURL.loggable(routes.address(of: route))) refused a frame")
            pairing.relayRefused(text, over: route)
        case .malformed(let error, let route): host.dropped(frame: error, from: routes.address(of: route))
        case .invalid(let route, let why):
            host.log(.error, "invalid relay URL \(WebSocketURL.loggable(routes.address(of: route))): \(why)")
        }
    }

    private func received(_ message: PeerMessage, over route: RouteID) {
        if pairing.hold(message, over: route) { return }
        let device = devices[message.from]
        switch channel.open(
            message, of: .init(device), mayPair: pairing.mayPair(message.from), over: routes.link(route))
        {
        case .ofPeer(let frame): if let device { received(frame, from: device, over: route) }
        case .ofStranger(let frame): receivedFromStranger(frame, over: route)
        case .plainOfSecure(let frame): pairing.received(frame, isOfSecurePeer: true, over: route)
        case .stale(let frame):
            if !pairing.received(frame, isOfSecurePeer: false, over: route) { channel.countReplay() }
        case .handled, .counted(.revoked): break
        case .counted(.unknownSender):
            reminders.spoke(message.from, over: route, asStranger: !pairing.isTelling(message.from))
        case .counted(.unopened(let error)): host.log(.warning, "dropped a sealed frame: \(error.message)")
        }
    }

    private func receivedFromStranger(_ frame: Incoming, over route: RouteID) {
        let payload = Payload(decoding: frame.payload)
        if pairing.received(frame, isOfSecurePeer: false, over: route) {
            if frame.isLive { devices.noteClock(ofCandidate: frame.from, frame.sealedAt) }
            return
        }
        if payload.isAck { return }
        channel.countUnknownSender()
        if devices.isSecure(frame.from) { return }  // in version 1, where sessions alone count
        if frame.isSealed {
            if !pairing.isTelling(frame.from) { reminders.spoke(frame.from, over: route, asStranger: true) }
            return
        }
        guard case .request(let request) = payload else { return }
        guard let device = devices.phone(behind: frame.from, request), let session = devices.session(device.did) else {
            return respond(.error(.notPaired), to: .init(request.answerable, ofStranger: frame.from, over: route))
        }
        commands.received(
            request, from: device, session, over: route, naming: .bySender, isOfStranger: true, mark: nil,
            roster: devices.roster, at: .now)
    }

    private func received(_ frame: Incoming, from device: PairedDevice, over route: RouteID) {
        let (did, mark) = (device.did, frame.mark)
        let payload = Payload(decoding: frame.payload)
        if payload.isOfPairing { pairing.received(frame, isOfSecurePeer: device.isSecure, over: route) }
        let isPresent = frame.isLive && (frame.isSealed || !payload.isAck)
        routes.heard(did, over: route, isLive: isPresent)
        if isPresent { outboxes.heard(did, over: route) }
        if frame.isLive { devices.noteClock(of: did, frame.sealedAt) }
        let message = DeviceMessage(payload, from: device, mark)
        if let mark, message.needsThisStart, !devices.isOfThisStart(mark, frame.sealedAt) {
            channel.countReplay()
            return once(mark)
        }
        switch message {
        case .position(let seq, let epoch, let isHello, let mark):
            outboxes.acknowledged(through: seq, in: epoch, isHello: isHello, by: did, mark)
        case .request(let request):
            records.touch(device, request.form)
            guard let session = devices.session(did) else { return }
            commands.received(
                request, from: device, session, over: route, naming: routes.naming(of: route), mark: mark,
                roster: devices.roster, at: .now)
        case .malformedRequest(let request, let description):
            host.dropped("a device's payload: \(description)")
            guard let session = devices.session(did) else { return }
            let asked = DeviceRequest(request, from: device, session, over: route)
            once(mark) { core in core.respond(.error(RemoteError(.invalidRequest, description)), to: asked) }
        case .malformed(let description):
            host.dropped(description)
            once(mark)
        case .unpair(let mark): unpaired(by: did, mark)
        case .token(let statement, let mark): services.stated(statement, mark)
        // Each is written to the disk: they count as commands do.
        case .prekeys(let statement, let mark): if commands.allows(did) { services.stated(statement, mark) }
        case .receipt(let receipt):
            // Each is an event for the host: they count as commands do.
            guard commands.allows(did) else { return once(mark) }
            once(mark) { core in core.host.presented(receipt, by: did) }
        case .heartbeat(let heartbeat): if frame.isLive { sender.acknowledge(heartbeat, of: did, over: route) }
        case .forHost(let type, let fields): once(mark) { core in core.host.command(type, fields, from: did) }
        case .ignored: once(mark)
        }
    }

    /// The device has ended its pairing.
    private func unpaired(by device: PeerID, _ mark: SealMark) {
        left(device)
        store.unpaired(by: device, mark) { [host] result in
            guard case .failure(let error) = result else { return }
            host.storeFailed("could not remove a device that has unpaired", error)
        }
    }

    /// A frame has an effect once: what it brings about comes after it was recorded.
    private func once(
        _ mark: SealMark?, then: @escaping @Sendable @EventLoop (DesktopSwitchboard) -> Void = { _ in }
    ) {
        channel.once(mark) { [self] once in
            switch once {
            case .first: then(self)
            case .replayed: break
            case .failed(let error): host.storeFailed("dropped a message from a device", error)
            }
        }
    }

    // MARK: What the units put out

    private func carryOut(_ output: CommandServer.Output) {
        switch output {
        case .answer(let outcome, .host(let call)): publisher.answered(call, outcome)
        case .answer(let outcome, .device(let request)): respond(outcome, to: request)
        case .answer(let outcome, .schedule): schedule.executed(hasFailed: outcome.isOfStore)
        case .scheduled: schedule.changed()
        case .refuse(let error, let request, let mark):
            once(mark) { core in core.respond(.error(error), to: request) }
        case .push(let event, let seqs, let ticket):
            outboxes.push(event, numbered: seqs, ticket, isOnline: routes.isAnyOnline)
        case .announce(let announcement):
            sender.announce(announcement.event, to: announcement.devices.filter(devices.isSecure))
            host.announce(announcement.event)
        case .unread(let unread):
            host.unread(unread)
            life.upkeep.wrote()
        case .withdrawn: outboxes.withdrawn()
        case .replayed: channel.countReplay()
        }
    }

    func carryOut(_ event: KeyMoves.Event) {
        switch event {
        case .changed(let data): host.post(.rekeyChanged, data)
        case .switched(let move):
            DeviceMove(life: life, devices: devices, store: store, channel: channel) { [self] in act($0) }.perform(move)
        case .problem(let message): host.storeFailed(message)
        }
    }

    /// The device believes it is paired, but is not.
    private func withdraw(_ peer: PeerID) {
        guard !devices.isSecure(peer) else { return }
        reminders.begin(peer)
        store.remind(peer, channel.presharedKey(of: peer))
    }

    private func respond(_ outcome: CommandResponse.Outcome, to request: DeviceRequest) {
        guard let failure = sender.answer(request, outcome).failure(of: "the answer", to: "the device") else { return }
        host.log(.warning, "could not send an answer: \(failure.message)")
    }
}
