import Hosting
import Identity
import JSON
import Pairing
import Peering
import Sealing
import Signalling
import Store
import SystemServices
import Transport
import Wire

/// The flows by their names, as hosts say them.
package enum DevicePairingFlow: String, Sendable, CaseIterable {
    case scan, show, code

    var flow: PairingFlow {
        switch self {
        case .scan: .scan
        case .show: .show
        case .code: .code
        }
    }
}

/// The device's pairing flows (WirePairing, "Overview"), and the search for a relay by those that need one.
@EventLoop
final class DevicePairing {
    let flows: PairingCoordinator<PairedDesktop>
    /// How often each flow was ended. A flow that is still searching for its relay does not start after that.
    private var rounds: [DevicePairingFlow: UInt64] = [:]
    private var search: RelaySearch?
    private var isClosed = false
    private let context: DeviceContext
    private let book: DesktopBook
    private let channel: PeerChannel
    private let routes: Routes
    /// What the device greets a desktop with, but for the proof.
    private let hello: @EventLoop (PeerID) -> PairingHello
    private let paired: @EventLoop (PairedDesktop, PairingRecord<PairedDesktop>, SealMark?) -> Void
    private let received: @EventLoop (PeerMessage, RouteID) -> Void

    /// - Parameters:
    ///   - paired: the pairing is in the store; what the desktop has sealed before that mark is void.
    ///   - received: a frame of a desktop that is stored now came while it was not.
    init(
        _ context: DeviceContext, _ book: DesktopBook, _ routes: Routes, _ channel: PeerChannel,
        hello: @escaping @EventLoop (PeerID) -> PairingHello,
        paired: @escaping @EventLoop (PairedDesktop, PairingRecord<PairedDesktop>, SealMark?) -> Void,
        received: @escaping @EventLoop (PeerMessage, RouteID) -> Void
    ) {
        (self.context, self.book, self.routes, self.channel) = (context, book, routes, channel)
        (self.hello, self.paired, self.received) = (hello, paired, received)
        flows = PairingCoordinator(
            [DeviceScanStateMachine(), DeviceShowStateMachine(), DeviceTypedCodeStateMachine()], routes, channel)
        flows.role = self
    }

    // MARK: The host

    /// - Parameter relay: of the program that asks; `nil` = the device's.
    func scan(_ text: String, timeout: CallTimeout, relay: String? = nil, _ then: @escaping Then) {
        guard !isClosed else { return then(.failure(.closed)) }
        if let offer = try? DesktopPairingOffer(parsing: text, now: .now), channel.isRevoked(offer.pcPeerID) {
            return then(.failure(.revokedKey))
        }
        var machine = flows.machine(DeviceScanStateMachine.self)
        let wasActive = machine.isActive
        let secure = Set(book.peers.peers.filter(\.isSecure).map(\.id))
        let actions = machine.scan(
            text, identity: identity, relayURL: relay ?? context.options.common.relayURL, legacy: legacy,
            securePeers: secure, now: .now)
        // The same code joins the scan in progress; another code replaces it.
        if wasActive, !actions.isEmpty { flows.finish(.scan, .replaced("another code was scanned")) }
        flows.wait(for: .scan, timeout.milliseconds, then)
        flows.change(DeviceScanStateMachine.self) {
            $0 = machine
            return actions
        }
    }

    func show(timeout: CallTimeout, relay: String? = nil, _ then: @escaping Then) {
        findRelay(relay, for: .show, timeout, then) { [flows, identity, legacy] route, left in
            if flows.machine(DeviceShowStateMachine.self).isActive {
                flows.finish(.show, .replaced("another code is shown"))
            }
            flows.wait(for: .show, left, then)
            let code = flows.newCode(for: .show)
            flows.change(DeviceShowStateMachine.self) {
                $0.show(
                    code, secret: .random(), random: .random(), identity: identity, over: route, legacy: legacy)
            }
        }
    }

    func type(_ text: String, timeout: CallTimeout, relay: String? = nil, _ then: @escaping Then) {
        findRelay(relay, for: .code, timeout, then) { [flows, identity, legacy] route, left in
            var machine = flows.machine(DeviceTypedCodeStateMachine.self)
            let wasActive = machine.isActive
            var generator = SecureRandomNumberGenerator()
            let actions = machine.submit(text, identity: identity, over: route, legacy: legacy, using: &generator)
            // The same code joins the flow in progress; another code replaces it.
            if wasActive, !actions.isEmpty { flows.finish(.code, .replaced("another code was typed")) }
            flows.wait(for: .code, left, then)
            flows.change(DeviceTypedCodeStateMachine.self) {
                $0 = machine
                return actions
            }
        }
    }

    /// - Parameter flow: `nil` = all of them.
    func cancel(_ flow: DevicePairingFlow?) {
        for name in DevicePairingFlow.allCases where flow == nil || flow == name { rounds[name, default: 0] &+= 1 }
        flows.cancel(flow?.flow)
    }

    func suspend() {
        for name in DevicePairingFlow.allCases { rounds[name, default: 0] &+= 1 }
        flows.suspend()
    }

    func stop() {
        cancel(nil)
        search?.end(nil)
        search = nil
    }

    /// They wait for the device, not for the flow: its end is of no interest to them.
    func close() {
        isClosed = true
        for name in DevicePairingFlow.allCases { flows.finish(name.flow, .failure(.closed)) }
        stop()
        flows.stopTimers()
    }

    private var identity: PairingIdentity {
        let common = context.options.common
        return PairingIdentity(
            did: context.did,
            deviceInfo: PairingDeviceInfo(deviceID: context.deviceID, name: common.name, platform: common.platform))
    }

    private var legacy: LegacyPairing {
        switch context.options.common.legacy {
        case .qr: .qr
        case .all: .all
        case .none: .none
        }
    }

    // MARK: Relays

    /// - Parameter bus: the system bus; `nil` = nothing of the machine is followed.
    func searchesRelays(on bus: Bus?) { search = bus.map { RelaySearch(on: $0) } }

    func networkChanged() { search?.refresh() }

    /// The code names no relay: uses the caller's or the configured one, or else the last one that worked, or else one
    /// found on the local network. The search takes time: `found` gets the rest of the caller's timeout, in milliseconds. A flow
    /// that was cancelled in the meantime does not start.
    private func findRelay(
        _ given: String?, for flow: DevicePairingFlow, _ timeout: CallTimeout, _ then: @escaping Then,
        found: @escaping @Sendable @EventLoop (PairingRoute?, UInt64) -> Void
    ) {
        guard !isClosed else { return then(.failure(.closed)) }
        let begun = EventLoop.now
        let round = rounds[flow] ?? 0
        findRelay(given) { [self] route in
            guard !isClosed else { return then(.failure(.closed)) }
            guard rounds[flow] ?? 0 == round else {
                return then(.failure(HostError(PairingFailure(.cancelled))))
            }
            let passed = EventLoop.now &- begun
            guard passed < timeout.milliseconds else {
                return then(.failure(HostError(PairingFailure(route == nil ? .noRelay : .timeout))))
            }
            found(route, timeout.milliseconds - passed)
        }
    }

    private func findRelay(_ given: String?, _ then: @escaping @Sendable @EventLoop (PairingRoute?) -> Void) {
        if let url = given ?? context.options.common.relayURL { return then(PairingRoute(.relay, url: url)) }
        context.store { (connection) throws(StoreError) in
            try PairedDesktops(connection).lastWorkingURL()
        } then: { [self] result in
            guard case .success(let url?) = result else {
                guard let search else { return then(nil) }
                return search.find { relay in then(relay.map { PairingRoute(.lan, url: $0.url) }) }
            }
            let isLAN = book.peers.peers.contains { $0.lanSignalingURL == url }
            then(PairingRoute(isLAN ? .lan : .relay, url: url))
        }
    }
}

extension DevicePairing: PairingRole {
    func perform(_ step: PairingStep<PairedDesktop>) {
        switch step {
        case .report(let state): context.channel.post(HostEvent(.pairingChanged, data: state.data))
        case .sendHello(let peer, let route, let proof):
            var hello = hello(peer)
            hello.proof = proof
            flows.send(hello.json, to: peer, sealed: true, over: routes.link(route))
        // The coordinator's, or a desktop's.
        case .open, .close, .send, .startTimer, .stopTimer, .store, .openAlias, .closeAlias, .withdraw: break
        }
    }

    func store(_ record: PairingRecord<PairedDesktop>) {
        context.store { (connection) throws(StoreError) in
            try RevokedKeys(connection).check(record.peer.id, record.peer.pcPeerID)
            try record.saveSeal(connection)
            try PrekeyTable(connection).forget(record.peer.id)
            return try PairedDesktops(connection).upsert(record.peer)
        } then: { [self] result in
            flows.stored(record, result) { [paired] stored, mark in paired(stored, record, mark) }
        }
    }

    func receive(_ message: PeerMessage, over route: RouteID) { received(message, route) }
}

extension Result<HostReply, HostError> {
    fileprivate static func replaced(_ detail: String) -> Self {
        .failure(HostError(PairingFailure(.cancelled, detail: detail)))
    }
}
