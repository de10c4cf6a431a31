import Alerts
import Delivery
import Hosting
import Inbox
import JSON
import Notifications
import OfflineQueue
import Pairing
import Peering
import Sealing
import Sharing
import Signalling
import Store
import Transport
import Wire

/// The device on the event loop: owns the units and routes what one of them tells to the others.
///
/// Every method and every callback runs on the loop and never suspends; the store's answers come back as messages.
@EventLoop
final class DeviceSwitchboard {
    nonisolated static let migrations =
        PairedDesktops.migrations + Inbox.migrations + QueueTable.migrations
        + KeptEvents.migrations + PushTokenTable.migrations + AlertTable.migrations + ReminderTable.migrations
        + PrekeyTable.migrations + PairingCopy.migrations + Applications.migrations + [InboxFeedMigration.migration]

    let opened: OpenedDevice
    let desktops: DesktopBook
    let routes: Routes
    let channel: PeerChannel
    private(set) lazy var life = Lifecycle(followsSystem: context.options.common.followsSystem) { [weak self] in
        self?.act($0)
    }
    private(set) lazy var pairing = DevicePairing(
        context, desktops, routes, channel, hello: { [pushes] in pushes.hello(to: $0) },
        paired: { [weak self] in self?.paired($0, $1, since: $2) },
        received: { [weak self] in self?.received($0, over: $1) })
    private(set) lazy var commands = CommandCalls(
        context, desktops, opened.queue, reach: { [weak self] in self?.reach($0) },
        write: { [weak self] in self?.sender.send($0, to: $1) ?? (.offline, nil) },
        emit: { [weak self] in self?.act($0) })
    private(set) lazy var inbox = DeviceInbox(
        context, desktops, channel, judge: { [weak self] in self?.alerts.judge }, emit: { [weak self] in self?.act($0) }
    )
    private(set) lazy var pushes = PushCarrier(
        opened.waitingPushes, context.database, opened.spool, committed: opened.committedPushes,
        pushesWait: { [channel = context.channel] in channel.pushesWait() },
        judge: { [weak self] in self?.alerts.judge }, tell: { [weak self] in self?.act($0) })
    private(set) lazy var frames = FrameReader(context, desktops, channel) { [weak self] in self?.act($0, from: $1) }
    private(set) lazy var pushServices = PushServices(
        context, desktops,
        PushTokens(
            removals: opened.tokenRemovals, context, desktops: { [weak self] in self?.desktops.peers.ids ?? [] },
            say: { [weak self] in self?.sender.sendEverywhere($0, to: $1) ?? [] }),
        DevicePrekeys(isWanted: opened.hasTokens, context, desktops, channel) { [weak self] in
            _ = self?.sender.send($0, to: $1)
        }, open: { [weak self] in self?.frames.open(&$0, from: $1) }, emit: { [weak self] in self?.act($0) })
    private(set) lazy var alerts = AlertsOnDemand(opened.alerts, context, desktops) { [weak self] in self?.act($0) }

    var revocation: DesktopRevocation {
        DesktopRevocation(context: context, desktops: desktops, channel: channel) { [pairing] in
            pairing.flows.removed($0)
        }
    }

    var sender: DesktopSender { DesktopSender(context: context, desktops: desktops, routes: routes, channel: channel) }

    nonisolated var context: DeviceContext { opened.context }
    nonisolated init(_ opened: OpenedDevice, over kinds: [RouteKind]) {
        self.opened = opened
        let context = opened.context
        routes = Routes(.device, of: context.did, kinds: kinds)
        channel = PeerChannel(key: context.key, seal: opened.seal, database: context.database, role: .initiator)
        desktops = DesktopBook(opened.desktops, context, channel)
    }

    // MARK: Start and stop

    func start() {
        desktops.emit = { [weak self] in self?.act($0) }
        guard life.start() else { return }
        routes.handler = { [weak self] in self?.act($0) }
        channel.handleSessions { [weak self] in self?.act($0) }
        pairing.searchesRelays(on: life.bus)
        commands.start()
        pushServices.tokens.start()
        routes.setPeers(desktops.routed)
        routes.start()
        inbox.start()
        commands.queue.checkAll()
        alerts.begin()
    }

    func stop() {
        guard life.stop() else { return }
        pairing.stop()
        commands.stop()
        pushes.tellDue()
        routes.stop()
    }

    func shutDown(then: @escaping @Sendable () -> Void) {
        life.close()
        pairing.close()
        alerts.end()
        pushServices.close()
        inbox.close()
        commands.close()
        channel.moves.close()
        routes.handler = nil
        pushes.shutDown { [self] in
            routes.stop()
            context.database.close(then: then)
        }
    }

    func describe(_ then: @escaping Then) {
        DeviceStatus(context: context, desktops: desktops, routes: routes) { [self] in
            DeviceStatus.Units(
                isStarted: life.isStarted, queue: commands.queue.summary, notes: life.notes, counters: counters)
        }.read(then)
    }

    private var counters: DeviceCounters {
        DeviceCounters(
            pushes: pushes.counters, sealed: channel.counters, dropped: frames.counters,
            silent: pushServices.silentPushes, unopenedPushes: pushServices.prekeys.refused,
            repeatedCommands: commands.repeated, strayResponses: commands.strayResponses,
            pairingFrames: pairing.flows.dropped)
    }

    func suspend() {
        guard life.suspend() else { return }
        pairing.suspend()
        routes.suspend()
        commands.suspend()
    }

    func resume() {
        guard life.resume() else { return }
        routes.resume()
        pairing.flows.resume()
    }

    func networkChanged() {
        routes.networkChanged()
        pairing.networkChanged()
    }

    private func act(_ action: Lifecycle.Action) {
        switch action {
        case .networkChanged: networkChanged()
        case .suspend: suspend()
        case .resume: resume()
        }
    }

    // MARK: Routes

    func reach(_ peer: PeerID) -> DesktopReach? {
        DesktopReach(peer, desktops, routes, isQueueBusy: commands.queue.isBusy(with: peer))
    }

    private func act(_ event: RouteEvent) {
        switch event {
        case .linkChanged(let route, let state):
            context.channel.log(.info, state.summary(of: routes.address(of: route)))
            if state.isOnline { connected(over: route) } else { pushServices.tokens.disconnected(route) }
            pairing.flows.linkChanged(route, state)
        case .reachable(let peer, _):
            pushServices.tokens.tell(peer)
            commands.back(peer)
        case .lost(let peer, .disconnected): commands.lost(peer)
        case .connectionChanged(let peer?, let connection):
            guard let desktop = desktops.peers.peer(peer) else { return }
            inbox.reachable(desktop, life.isStarted && connection["online"] == true)
            context.channel.post(HostEvent(.connectionChanged, desktop: peer.text, data: connection))
        case .lost(_, .absent), .connectionChanged(nil, _), .absenceReporting: break
        case .senderNaming(let naming, _): if naming == .bySender { tellDesktops() }
        case .peerInfo(let peer, let info): desktops.introduced(peer, info)
        case .message(let message, let route): received(message, over: route)
        case .peerOffline(let peer, let route):
            pushServices.tokens.wasCalledAbsent(peer, over: route)
            pairing.flows.peerOffline(peer, over: route)
            commands.absent(peer, over: route)
        case .peerOnline(let peer, _):
            guard let session = desktops.peers[peer] else { return }
            pushServices.tokens.cameBack(peer, lastFrameAt: session.lastFrameAt)
            commands.back(peer)
        case .refused(let text, let route):
            frames.refused(by: routes.origin(of: route))
            pairing.flows.relayRefused(text, over: route)
        case .malformed(let error, let route): frames.dropped(error, from: routes.origin(of: route))
        case .invalid(_, let message): context.channel.problem("invalid_url", message)
        }
    }

    /// The route is up: each sealed desktop that is reached over it hears which push was stored last, and sends what
    /// comes after. What was learned about desktops on the connection before is void.
    private func connected(over route: RouteID) {
        desktops.worked(routes.address(of: route))
        channel.moves.connected()
        if routes.peers(over: route).contains(where: desktops.isNameless) { routes.link(route)?.askForPeers() }
        for peer in routes.peers(over: route) {
            desktops.peers[peer]?.lacksSkill = false
            desktops.peers[peer]?.lane.connected()
            sender.registered(peer, over: route)
            sender.sayHello(pushes.hello(to: peer), to: peer, over: route)
            pushServices.tokens.tell(peer)
            // For the others `reachable` follows.
            if routes.bestRoute(of: peer) != route { commands.queue.check(peer) }
        }
    }

    private func act(_ event: PeerSessions.Event) {
        switch event {
        case .greet(let peer):
            sender.sayHello(pushes.hello(to: peer), to: peer)
            commands.sessionBegan(with: peer)
            pushServices.prekeys.sessionBegan(peer)
            channel.moves.begun(peer)
        case .completed, .problemChanged: tellDesktops()
        }
    }

    func act(_ event: KeyMoves.Event) {
        switch event {
        case .changed(let data): context.channel.post(HostEvent(.rekeyChanged, data: data))
        case .switched(let move):
            DesktopMove(context: context, desktops: desktops, channel: channel) { [weak self] in self?.act($0) }
                .perform(move)
        case .problem(let message): context.channel.problem("store_failed", message)
        }
    }

    private func act(_ action: DesktopMove.Action) {
        switch action {
        case .replaced(let old, let desktop, let session):
            pairing.flows.removed(old)
            commands.moved(old, to: desktop.id)
            if let session { inbox.moved(old, session) }
            pushes.moved(old, to: desktop.id)
            pushServices.tokens.forget(old)
            tellDesktops()
        case .stored(let move):
            pushServices.tokens.paired(move.new)
            sender.registered(move.new)
        case .queueChanged: commands.queue.reload()
        }
    }

    // MARK: Frames

    private func received(_ message: PeerMessage, over route: RouteID) {
        // Frames from a desktop wait while its pairing is being stored.
        if pairing.flows.hold(message, over: route) { return }
        switch channel.open(
            message, of: .init(desktops.peers.peer(message.from)), mayPair: pairing.flows.isActive,
            over: routes.link(route))
        {
        case .ofPeer(let incoming):
            pairing.flows.received(incoming, isOfSecurePeer: false, isRecorded: incoming.isSealed, over: route)
            desktops.heard(incoming)
            routes.heard(incoming.from, over: route, isLive: incoming.isLive)
            frames.read(incoming, over: route)
        case .ofStranger(let incoming):
            let isTaken = pairing.flows.received(incoming, isOfSecurePeer: false, over: route)
            // Any message from an unencrypted desktop completes its pairing, and also goes to the program.
            if !incoming.isSealed, pairing.flows.hold(message, over: route) { return }
            if !isTaken { channel.countUnknownSender() }
        case .plainOfSecure(let incoming): pairing.flows.received(incoming, isOfSecurePeer: true, over: route)
        case .stale(let incoming):
            if !pairing.flows.received(incoming, isOfSecurePeer: false, over: route) { channel.countReplay() }
        case .counted(.unknownSender), .counted(.revoked), .handled: break
        case .counted(.unopened(let error)):
            context.channel.log(.warning, "dropped a sealed frame: \(error.message)")
        }
    }

    private func act(_ action: FrameReader.Action, from peer: PeerID) {
        switch action {
        case .push(let push): pushes.received(push)
        case .requestedPush(let push, let then): pushes.received(push, then: then)
        case .answer(let answer): _ = sender.send(answer, to: peer)
        case .skip(let skip): pushes.received(skip)
        case .state(let event, let mark): inbox.updates.apply(event, from: peer, mark)
        case .response(let response): commands.answered(response, by: peer)
        case .iceConfig(let config, let mark): desktops.update(peer, config, mark)
        case .unpaired(let mark): desktops.wasUnpaired(by: peer, mark)
        case .prekeyShortage(let shortage): pushServices.prekeys.ranLow(shortage, at: peer)
        case .malformedPush: pushes.droppedMalformed()
        }
    }

    // MARK: Desktops

    private func act(_ action: DesktopBook.Action) {
        switch action {
        case .changed: tellDesktops()
        case .replayed: channel.countReplay()
        case .leaving(let gone, let isTold):
            for desktop in gone { forget(desktop, isTold: isTold) }
            if !gone.isEmpty { tellDesktops() }
        }
    }

    /// From here on it is a stranger.
    private func forget(_ desktop: PairedDesktop, isTold: Bool) {
        let peer = desktop.id
        if isTold { sender.sendUnpair(to: peer) }
        pairing.flows.removed(peer)
        guard let session = desktops.peers.forget(peer) else { return }
        commands.forget(peer)
        channel.forget(peer)
        inbox.forget(peer, session)
        pushServices.tokens.forget(peer)
        alerts.forget(peer)
        pushes.forget(peer)
    }

    func tellDesktops() {
        routes.setPeers(desktops.routed)
        desktops.tell(routes)
    }

    private func paired(_ desktop: PairedDesktop, _ record: PairingRecord<PairedDesktop>, since mark: SealMark?) {
        if desktop.isSecure { channel.keep(desktop.id, since: mark, presharedKey: record.presharedKey) }
        desktops.add(desktop)
        if desktops.isNameless(desktop.id) { routes.link(record.route, orBestOf: desktop.id)?.askForPeers() }
        pushServices.paired(desktop.id) {
            // Over the route of the greeting, which it must not overtake.
            let route = record.route.flatMap { routes.isOnline($0) ? $0 : nil }
            sender.sayHello(pushes.hello(to: desktop.id), to: desktop.id, over: route)
        }
    }

    // MARK: Commands

    private func act(_ action: CommandCalls.Action) {
        switch action {
        case .ended(let order, let outcome):
            switch order.owner {
            case .host, .queue, .presence: break
            case .sync(let question): inbox.answered(question, outcome, by: order.desktop)
            case .change(let change):
                inbox.ended(change, outcome, isQueued: commands.queue.commands.contains { $0.id == order.id })
            }
        case .leftQueue(let end): inbox.ended(end)
        case .learn(let method, let params, let result, let desktop, let then):
            inbox.updates.learn(method, params, result, from: desktop, then: then)
        case .revision(let revision, let desktop): inbox.updates.note(revision: revision, of: desktop)
        }
    }

    // MARK: Inbox and alerts

    private func act(_ action: DeviceInbox.Action) {
        switch action {
        case .perform(let command, let desktop, let timeout, let queueing, let owner):
            commands.perform(command, on: desktop.id, timeout: timeout, queueing: queueing, for: owner)
        case .changed: alerts.inboxChanged()
        case .unread(let unread): alerts.setBadge(unread)
        case .filled(let last, let judged):
            pushes.waiting.stored(through: last)
            context.channel.pushesWait()
            alerts.entered(judged)
        }
    }

    private func act(_ event: PushCarrier.Event) {
        switch event {
        case .acknowledge(let desktop, let position, let heardOver):
            FailPoint.beforeAcknowledgement.reach()
            // Anything that is not sent now is part of the next hello.
            let route = heardOver.flatMap { routes.isOnline($0) ? $0 : nil }
            _ = sender.send(position.payload, to: desktop, over: route)
            FailPoint.afterAcknowledgement.reach()
        case .stored(let desktops, let unread, let judged):
            for desktop in desktops { inbox.tell(desktop, unread: unread, isArrival: true) }
            alerts.entered(judged)
        case .confirmed(let desktop, let unread): inbox.tell(desktop, unread: unread, isArrival: true)
        case .full, .failed: if let problem = event.problem { context.channel.problem(problem.code, problem.message) }
        }
    }

    private func act(_ action: PushServices.Action) {
        switch action {
        case .badge(let badge): alerts.setBadge(badge)
        case .push(let notification, let source, let call): pushes.received(notification, from: source, call)
        }
    }

    private func act(_ action: AlertsOnDemand.Action) {
        switch action {
        case .markRead(let notification, let desktop): inbox.markRead(notification, of: desktop)
        case .receipt(let id, let isShown, let desktop): sender.sendReceipt(id: id, presented: isShown, to: desktop)
        }
    }
}
