import Hosting
import JSON
import Pairing
import Sealing
import Signalling
import Store
import Transport
import Wire

// Flow B: the machine decides, this carries out (protocol.md 2).
extension DeviceCore {
    func scan(_ text: String, timeout: Int64, _ then: @escaping Then) {
        guard !isShutDown else { return then(.failure(.closed)) }
        start()
        let wasActive = scanning.machine.isActive
        let actions = scanning.machine.scan(
            text, identity: identity, relayURL: options.common.relayURL, legacy: legacy,
            securePeers: Set(desktops.filter(\.isSecure).map(\.id)), now: .now)
        // The same code again joins the scan that is under way; another one takes its place.
        if wasActive, !actions.isEmpty {
            scanning.end(.failure(HostError(PairingFailure(.cancelled, detail: "another code was scanned"))))
        }
        scanning.wait(timeout, then)
        perform(actions)
    }

    // MARK: What the connections tell

    func scanRoute(_ url: String, changed state: RelayConnectionState) {
        guard let route = scanRoute(url) else { return }
        switch state {
        case .online: perform(scanning.machine.routeOnline(route, now: .now))
        case .offline(let reason): perform(scanning.machine.routeFailed(route, detail: reason.message, now: .now))
        case .connecting, .registering: break
        }
    }

    func scanPeerOffline(_ peer: PeerID, over url: String) {
        guard let route = scanRoute(url) else { return }
        perform(scanning.machine.peerOffline(peer, over: route, now: .now))
    }

    func scanRelayRefused(_ text: String, over url: String) {
        guard let route = scanRoute(url) else { return }
        perform(scanning.machine.relayRefused(over: route, detail: text, now: .now))
    }

    private func scanRoute(_ url: String) -> PairingRoute? {
        scanning.machine.heldRoutes.first { $0.url == url }
    }

    // MARK: Carrying out

    func perform(_ actions: [DeviceScanAction]) {
        for action in actions {
            switch action {
            case .open(let route):
                open(route) { core, isOnline in
                    core.perform(
                        isOnline
                            ? core.scanning.machine.routeOnline(route, now: .now)
                            : core.scanning.machine.routeFailed(
                                route, detail: "the code names an address that is none", isFinal: true, now: .now))
                }
            case .sendAck(let ack, let peer, let sealed, let route):
                let result = send(ack.json, to: peer, sealed: sealed, over: links[route.url])
                perform(scanning.machine.ackSent(result.isWritten, over: route, now: .now))
            case .close: reconcileLinks()
            case .startTimer(let delay): scanning.timer.start(after: delay)
            case .stopTimer: scanning.timer.stop()
            case .store(let desktop):
                store(desktop) { core, result in
                    core.perform(
                        result.map {
                            core.scanning.machine.stored($0)
                        } failed: {
                            core.scanning.machine.storeFailed(desktop.id, detail: $0.message)
                        })
                }
            case .report(let state): report(state)
            }
        }
    }

    private func report(_ state: DeviceScanState) {
        channel.post(HostEvent(.pairingChanged, data: state.data))
        switch state {
        case .scanning, .sending: return
        case .success(let desktop): scanning.end(.success(JSONValue.object(desktop.json).serialized()))
        case .failed(let failure): scanning.end(.failure(HostError(failure)))
        }
    }
}

// MARK: What the three flows have in common

extension DeviceCore {
    var identity: PairingIdentity {
        PairingIdentity(
            did: did,
            deviceInfo: PairingDeviceInfo(
                deviceID: deviceID, name: options.common.name, platform: options.common.platform))
    }

    var legacy: LegacyPairing {
        switch options.common.legacy {
        case .qr: .qr
        case .all: .all
        case .none: .none
        }
    }

    /// May a peer that we do not know have a reason to seal something to us?
    var mayBePairing: Bool {
        scanning.machine.isActive || showing.machine.isActive || typing.machine.isActive
    }

    /// Whatever came is told to the machines: each takes what is its own.
    func tellFlows(_ incoming: Incoming) {
        let isOfSecurePeer =
            !incoming.isSealed && desktops.contains { $0.address == incoming.from && $0.isSecure }
        let frame = PairingFrame(
            reading: incoming.payload, from: incoming.from, isSealed: incoming.isSealed,
            isOfSecurePeer: isOfSecurePeer, delivery: incoming.delivery)
        pairingMark = incoming.mark
        perform(scanning.machine.received(frame, now: .now))
        perform(showing.machine.received(frame, now: .now))
        perform(typing.machine.received(frame, now: .now))
        pairingMark = nil
    }

    /// `then` hears at once whether it is up; `false` = its address is none. A connection that is on its way tells later.
    func open(_ route: PairingRoute, then: @EventLoop (DeviceCore, Bool) -> Void) {
        guard let link = links[route.url] else {
            if !open(route.url) { then(self, false) }
            return
        }
        if link.state.isOnline { then(self, true) } else { link.reconnectNow() }
    }

    /// Stores a pairing, and with it that the frame which made it has come.
    func store(
        _ desktop: PairedDesktop,
        then: @escaping @Sendable @EventLoop (DeviceCore, Result<PairedDesktop, StoreError>) -> Void
    ) {
        let mark = pairingMark
        unstored.begin(desktop.id)
        store { (connection) throws(StoreError) in
            if let mark {
                try SealStates(connection).save(mark)
                try SealStates(connection).begin(mark)
            }
            return try PairedDesktops(connection).upsert(desktop)
        } then: { core, result in
            let held = core.unstored.end(desktop.id)
            if case .success(let stored) = result {
                if stored.isSecure { core.sealer.keep(stored.address, since: mark) }
                core.replace(stored)
                core.sayHello(to: stored, over: core.bestLink(to: stored))
                core.tokens.paired(stored.id)
                core.sayTokens(to: stored)
            }
            then(core, result)
            core.reconcileLinks()
            for (incoming, url) in held { core.received(incoming, over: url) }
        }
    }

    func cancel(_ flow: DevicePairingFlow, _ reason: PairingReason = .cancelled) {
        endSearch(for: flow)
        switch flow {
        case .scan: perform(scanning.machine.cancel(reason))
        case .show: perform(showing.machine.cancel(reason))
        case .code: perform(typing.machine.cancel(reason))
        }
    }

    func cancelFlows() {
        for flow in DevicePairingFlow.allCases { cancel(flow) }
    }
}

extension Result {
    func map<Value>(_ value: (Success) -> Value, failed: (Failure) -> Value) -> Value {
        switch self {
        case .success(let success): value(success)
        case .failure(let failure): failed(failure)
        }
    }
}

extension HostError {
    init(_ failure: PairingFailure) {
        let code: Code = failure.reason == .storeFailed ? .store : .pairing
        self.init(code, failure.message, detail: ["reason": .string(failure.reason.rawValue)])
    }
}
