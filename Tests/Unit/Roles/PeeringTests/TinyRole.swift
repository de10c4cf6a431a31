import Identity
import JSON
import Pairing
import Sealing
import Signalling
import Store
import TestSupport
import Transport
import Wire

@testable import Hosting
@testable import Peering

/// A role that only pairs: what of a switchboard concerns routes, channel, book and pairing.
@EventLoop
final class TinyRole<Known: PairedPeer>: PairingRole {
    let id: PeerID
    let routes: Routes
    let channel: PeerChannel
    let pairing: PairingCoordinator<Known>
    let reports = Mailbox<JSONObject>()
    let events = Mailbox<RouteEvent>()
    private(set) var book = PeerBook<Known, Int>()
    let database: Database
    private let relays: MemoryRelays
    private let routed: (Known) -> RoutedPeer
    private var alias: (any RouteLink)?
    /// A desktop's, where its codes are typed.
    var aliasChanged: ((LinkEvent) -> Void)?

    init(
        _ side: RouteTable.Side, at relays: MemoryRelays, _ machines: sending [any PairingMachine<Known>],
        routed: @escaping (Known) -> RoutedPeer
    ) throws {
        try Identity.start()
        let key = try SigningKey.generate()
        id = PeerID(key.did)
        self.relays = relays
        self.routed = routed
        database = try Database.open(path: ":memory:", migrations: SealStates.migrations).database
        let registration = SignallingFrame.Register(peerID: id)
        routes = Routes(side, of: id, kinds: [.relays(relays.maker, registration: registration, provingWith: key)])
        channel = PeerChannel(key: key, seal: RoleState.Seal(epoch: 1, windows: [:]), database: database)
        pairing = PairingCoordinator(machines, routes, channel)
        routes.handler = { [weak self] event in self?.received(event) }
        pairing.role = self
    }

    func identity(_ name: String) -> PairingIdentity {
        PairingIdentity(did: id, deviceInfo: PairingDeviceInfo(deviceID: name, name: name, platform: "linux"))
    }

    func forget(_ peer: PeerID) {
        book.forget(peer)
        channel.forget(peer)
        pairing.removed(peer)
        routes.setPeers(book.peers.map(routed))
    }

    func close() {
        pairing.cancel()
        pairing.stopTimers()
        alias?.stop()
        routes.stop()
        routes.hold([])
        database.close {}
    }

    // MARK: In

    private func received(_ event: RouteEvent) {
        switch event {
        case .linkChanged(let route, let state): pairing.linkChanged(route, state)
        case .message(let message, let route): received(message, over: route)
        case .peerOffline(let peer, let route): pairing.peerOffline(peer, over: route)
        case .refused(let text, let route): pairing.relayRefused(text, over: route)
        case .reachable, .lost, .connectionChanged, .peerOnline, .peerInfo, .absenceReporting, .senderNaming,
            .malformed, .invalid:
            break
        }
        events.put(event)
    }

    private func received(_ message: PeerMessage, over route: RouteID) {
        if pairing.hold(message, over: route) { return }
        switch channel.open(message, of: .init(book.peer(message.from)), mayPair: pairing.isActive) {
        case .ofPeer(let incoming):
            routes.heard(incoming.from, over: route, isLive: incoming.isLive)
            pairing.received(
                incoming, isOfSecurePeer: incoming.isSealed, isRecorded: incoming.isSealed, over: route)
            book[incoming.from]? += 1
        case .ofStranger(let incoming):
            if !pairing.received(incoming, isOfSecurePeer: false, over: route) { channel.countUnknownSender() }
        case .plainOfSecure(let incoming): pairing.received(incoming, isOfSecurePeer: true, over: route)
        case .stale(let incoming):
            if !pairing.received(incoming, isOfSecurePeer: false, over: route) { channel.countReplay() }
        case .counted, .handled: break
        }
    }

    // MARK: Out

    func perform(_ step: PairingStep<Known>) {
        switch step {
        case .sendHello(let peer, let route, let proof):
            let hello = PairingHello(lastPushSeq: 0, proof: proof)
            pairing.send(hello.json, to: peer, sealed: true, over: routes.link(route))
        case .send(let content, let peer, let isSealed, _):
            pairing.send(content.json, to: peer, sealed: isSealed, over: alias)
        case .openAlias(let id): openAlias(id)
        case .closeAlias:
            alias?.stop()
            alias = nil
        case .report(let state): reports.put(state.data)
        case .withdraw, .open, .close, .startTimer, .stopTimer, .store: break
        }
    }

    func receive(_ message: PeerMessage, over route: RouteID) { received(message, over: route) }

    func store(_ record: PairingRecord<Known>) {
        database.submit { (connection) throws(StoreError) in
            try record.saveSeal(connection)
        } then: { result in
            EventLoop.post { [self] in
                pairing.stored(record, result.map { record.peer }) { peer, mark in
                    channel.keep(peer.id, since: mark, presharedKey: record.presharedKey)
                    book.upsert(peer) { 0 }
                    routes.setPeers(book.peers.map(routed))
                }
            }
        }
    }

    private func openAlias(_ id: PeerID) {
        guard let route = routes.opened.first(where: routes.isOnline) else { return }
        let request = RelayLinkRequest(
            url: routes.address(of: route), registration: SignallingFrame.Register(peerID: id), provingWith: nil)
        alias = try? relays.maker.make(request) { [weak self] link, event in
            guard let self, alias === link else { return }
            aliasChanged?(event)
        }
        alias?.start()
    }
}

typealias TinyDevice = TinyRole<PairedDesktop>
typealias TinyDesktop = TinyRole<PairedDevice>

@EventLoop
func tinyDevice(at relays: MemoryRelays) throws -> TinyDevice {
    try TinyRole(
        .device, at: relays, [DeviceScanStateMachine(), DeviceShowStateMachine(), DeviceTypedCodeStateMachine()]
    ) { RoutedPeer($0, ownRelay: nil) }
}

@EventLoop
func tinyDesktop(at relays: MemoryRelays) throws -> TinyDesktop {
    let desktop = try TinyRole<PairedDevice>(
        .desktop, at: relays, [DesktopScanStateMachine(), DesktopTypedCodeStateMachine(), DesktopOfferStateMachine()]
    ) { RoutedPeer($0.id, over: []) }
    desktop.aliasChanged = { [weak desktop] event in
        desktop?.pairing.change(DesktopTypedCodeStateMachine.self) { machine in
            switch event {
            case .stateChanged(.online): return machine.aliasOnline(now: .now)
            case .stateChanged(.offline(let reason)): return machine.aliasFailed(detail: reason.message)
            case .message(let message):
                var generator = SecureRandomNumberGenerator()
                return machine.receivedAtAlias(
                    PairingFrame(reading: message.payload, from: message.from), now: .now, using: &generator)
            default: return []
            }
        }
    }
    return desktop
}
