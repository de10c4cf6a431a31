import Hosting
import JSON
import Pairing
import Signalling
import Store
import Transport
import Wire

/// A scan under way: the machine, who waits for it, and what it holds open.
struct Scanning {
    var machine = DeviceScanStateMachine()
    var waiters = Waiters()
    /// What its desktop sent while the pairing was on its way to the disk; at most 64.
    private var held: [(RelayMessage, String)] = []
    private var storing: PeerID?

    /// Whether this peer is the one whose pairing is being stored.
    func awaits(_ peer: PeerID) -> Bool { storing == peer }

    mutating func hold(_ message: RelayMessage, _ url: String) {
        if held.count < 64 { held.append((message, url)) }
    }

    mutating func store(_ peer: PeerID) {
        storing = peer
        held = []
    }

    mutating func release(_ peer: PeerID) -> [(RelayMessage, String)] {
        guard storing == peer else { return [] }
        defer {
            storing = nil
            held = []
        }
        return held
    }
}

// Flow B: the machine decides, this carries out (protocol.md 2).
extension DeviceCore {
    func scan(_ text: String, timeout: Int64, _ then: @escaping Then) {
        guard !isShutDown else { return then(.failure(.closed)) }
        start()
        let wasActive = scanning.machine.isActive
        let identity = PairingIdentity(
            did: did,
            deviceInfo: PairingDeviceInfo(
                deviceID: deviceID, name: options.common.name, platform: options.common.platform))
        let actions = scanning.machine.scan(
            text, identity: identity, relayURL: options.common.relayURL,
            legacy: LegacyPairing(rawValue: options.common.legacy.rawValue) ?? .none,
            securePeers: Set(desktops.filter(\.isSecure).map(\.id)), now: .now)
        // The same code again joins the scan that is under way; another one takes its place.
        if wasActive, !actions.isEmpty {
            endScan(.failure(HostError(PairingFailure(.cancelled, detail: "another code was scanned"))))
        }
        scanning.waiters.add(until: EventLoop.now &+ UInt64(clamping: timeout), then)
        scanDeadline.start(at: scanning.waiters.nextDeadline)
        perform(actions)
    }

    func cancelScan() { perform(scanning.machine.cancel()) }

    /// Whose time is over goes; when nobody waits any more the scan itself ends.
    func scanTimedOut() {
        let expired = scanning.waiters.takeExpired(now: EventLoop.now)
        scanDeadline.start(at: scanning.waiters.nextDeadline)
        // Before they hear of it: a scan that ends by this is reported as such, and may not be joined any more.
        if scanning.waiters.isEmpty { perform(scanning.machine.cancel(.timeout)) }
        for waiter in expired { waiter(.failure(HostError(PairingFailure(.timeout)))) }
    }

    func scanStepTimedOut() { perform(scanning.machine.stepTimedOut(now: .now)) }

    // MARK: What the connections tell

    private func scanRoute(_ url: String) -> PairingRoute? {
        scanning.machine.heldRoutes.first { $0.url == url }
    }

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

    func scanReceived(_ frame: PairingFrame) {
        perform(scanning.machine.received(frame, now: .now))
    }

    // MARK: Carrying out

    func perform(_ actions: [DeviceScanAction]) {
        for action in actions {
            switch action {
            case .open(let route): open(route)
            case .sendAck(let ack, let peer, _, let route):
                let result = links[route.url]?.send(to: peer, payload: ack.json) ?? .offline
                perform(scanning.machine.ackSent(result.isWritten, over: route, now: .now))
            case .close: reconcileLinks()
            case .startTimer(let delay): scanTimer.start(after: delay)
            case .stopTimer: scanTimer.stop()
            case .store(let desktop): store(desktop)
            case .report(let state): report(state)
            }
        }
    }

    private func open(_ route: PairingRoute) {
        guard let link = links[route.url] else {
            if !open(route.url) {
                perform(
                    scanning.machine.routeFailed(
                        route, detail: "the code names an address that is none", isFinal: true, now: .now))
            }
            return
        }
        if link.state.isOnline {
            perform(scanning.machine.routeOnline(route, now: .now))
        } else {
            link.reconnectNow()
        }
    }

    private func store(_ desktop: PairedDesktop) {
        scanning.store(desktop.id)
        store { (connection) throws(StoreError) in
            try PairedDesktops(connection).upsert(desktop)
        } then: { core, result in
            let held = core.scanning.release(desktop.id)
            switch result {
            case .success(let stored):
                core.replace(stored)
                core.perform(core.scanning.machine.stored(stored))
            case .failure(let error):
                core.perform(core.scanning.machine.storeFailed(desktop.id, detail: error.message))
            }
            core.reconcileLinks()
            for (message, url) in held { core.received(message, over: url) }
        }
    }

    private func report(_ state: DeviceScanState) {
        channel.post(HostEvent(.pairingChanged, data: state.data))
        let outcome: Result<String, HostError>
        switch state {
        case .scanning, .sending: return
        case .success(let desktop): outcome = .success(JSONValue.object(desktop.json).serialized())
        case .failed(let failure): outcome = .failure(HostError(failure))
        }
        endScan(outcome)
    }

    /// Tells those who wait for the scan what it came to.
    func endScan(_ outcome: Result<String, HostError>) {
        scanDeadline.stop()
        for waiter in scanning.waiters.takeAll() { waiter(outcome) }
    }
}

extension HostError {
    init(_ failure: PairingFailure) {
        let code: Code = failure.reason == .storeFailed ? .store : .pairing
        self.init(code, failure.message, detail: ["reason": .string(failure.reason.rawValue)])
    }
}
