import Hosting
import Identity
import JSON
import Pairing
import Signalling
import Store
import SystemServices
import Transport
import Wire

// Flow A and the typed code: the machines decide, this carries out (protocol.md 2).
extension DeviceCore {
    func show(timeout: Int64, _ then: @escaping Then) {
        guard !isShutDown else { return then(.failure(.closed)) }
        start()
        findRelay(for: .show, timeout, then) { core, route, left in
            if core.showing.machine.isActive {
                core.showing.end(.failure(HostError(PairingFailure(.cancelled, detail: "another code is shown"))))
            }
            core.showing.wait(left, then)
            var generator = SecureRandomNumberGenerator()
            core.perform(
                core.showing.machine.show(
                    PairingCode(using: &generator), secret: .random(), identity: core.identity, over: route,
                    legacy: core.legacy))
        }
    }

    func type(_ text: String, timeout: Int64, _ then: @escaping Then) {
        guard !isShutDown else { return then(.failure(.closed)) }
        start()
        findRelay(for: .code, timeout, then) { core, route, left in
            let wasActive = core.typing.machine.isActive
            var generator = SecureRandomNumberGenerator()
            let actions = core.typing.machine.submit(
                text, identity: core.identity, over: route, legacy: core.legacy, using: &generator)
            // The same code again joins the one that is under way; another one takes its place.
            if wasActive, !actions.isEmpty {
                core.typing.end(.failure(HostError(PairingFailure(.cancelled, detail: "another code was typed"))))
            }
            core.typing.wait(left, then)
            core.perform(actions)
        }
    }

    /// A code names no relay: the host's own, else the one that worked last, else one nearby.
    ///
    /// Looking for it takes time: `found` gets what is left of the host's, in milliseconds. A flow that was cancelled
    /// meanwhile is not begun.
    private func findRelay(
        for flow: DevicePairingFlow, _ timeout: Int64, _ then: @escaping Then,
        found: @escaping @Sendable @EventLoop (DeviceCore, PairingRoute?, Int64) -> Void
    ) {
        let begun = EventLoop.now
        let round = searchRounds[flow] ?? 0
        findRelay { core, route in
            guard !core.isShutDown else { return then(.failure(.closed)) }
            guard core.searchRounds[flow] ?? 0 == round else {
                return then(.failure(HostError(PairingFailure(.cancelled))))
            }
            let left = timeout - Int64(clamping: EventLoop.now &- begun)
            guard left > 0 else { return then(.failure(HostError(PairingFailure(.timeout)))) }
            found(core, route, left)
        }
    }

    /// A relay that is looked for is not wanted any more.
    func endSearch(for flow: DevicePairingFlow) { searchRounds[flow, default: 0] &+= 1 }

    private func findRelay(_ then: @escaping @Sendable @EventLoop (DeviceCore, PairingRoute?) -> Void) {
        if let url = options.common.relayURL { return then(self, PairingRoute(.relay, url: url)) }
        store { (connection) throws(StoreError) in
            try PairedDesktops(connection).lastWorkingURL()
        } then: {
            core, result in
            guard case .success(let url?) = result else {
                guard let search = core.relaySearch else { return then(core, nil) }
                return search.find { relay in then(core, relay.map { PairingRoute(.lan, url: $0.url) }) }
            }
            let isLAN = core.desktops.contains { $0.lanSignalingURL == url }
            then(core, PairingRoute(isLAN ? .lan : .relay, url: url))
        }
    }

    // MARK: What the connections tell

    func codeRoute(_ url: String, changed state: RelayConnectionState) {
        if let route = showing.machine.heldRoute, route.url == url {
            switch state {
            case .online: perform(showing.machine.routeOnline(route, now: .now))
            case .offline(let reason): perform(showing.machine.routeFailed(route, detail: reason.message))
            case .connecting, .registering: break
            }
        }
        if let route = typing.machine.heldRoute, route.url == url {
            switch state {
            case .online: perform(typing.machine.routeOnline(route, now: .now))
            case .offline(let reason): perform(typing.machine.routeFailed(route, detail: reason.message))
            case .connecting, .registering: break
            }
        }
    }

    func typedCodePeerOffline(_ peer: PeerID, over url: String) {
        guard let route = typing.machine.heldRoute, route.url == url else { return }
        perform(typing.machine.peerOffline(peer, over: route))
    }

    func typedCodeRefused(_ text: String, over url: String) {
        guard let route = typing.machine.heldRoute, route.url == url else { return }
        perform(typing.machine.relayRefused(over: route, detail: text))
    }

    // MARK: Carrying out

    func perform(_ actions: [DeviceShowAction]) {
        for action in actions {
            switch action {
            case .open(let route):
                open(route) { core, isOnline in
                    core.perform(
                        isOnline
                            ? core.showing.machine.routeOnline(route, now: .now)
                            : core.showing.machine.routeFailed(
                                route, detail: "the relay's address is none", isFinal: true))
                }
            case .close: reconcileLinks()
            case .sendHello(let peer, let route):
                _ = send(hello(to: peer), to: peer, sealed: true, over: links[route.url])
            case .startTimer(let delay): showing.timer.start(after: delay)
            case .stopTimer: showing.timer.stop()
            case .store(let desktop):
                store(desktop) { core, result in
                    core.perform(
                        result.map {
                            core.showing.machine.stored($0)
                        } failed: {
                            core.showing.machine.storeFailed(desktop.id, detail: $0.message)
                        })
                }
            case .report(let state): report(state)
            }
        }
    }

    private func report(_ state: DeviceShowState) {
        channel.post(HostEvent(.pairingChanged, data: state.data))
        switch state {
        case .idle, .connecting: return
        case .displaying(let offer, let expiresAt):
            showing.end(
                .success(
                    JSONValue.object([
                        "payload": .string(offer.serialized()), "code": .string(offer.code.digits),
                        "expiresAt": .integer(expiresAt),
                    ]).serialized()))
        case .completed(let desktop): showing.end(.success(JSONValue.object(desktop.json).serialized()))
        case .expired: showing.end(.failure(HostError(PairingFailure(.expired))))
        case .failed(let failure): showing.end(.failure(HostError(failure)))
        }
    }

    func perform(_ actions: [DeviceTypedCodeAction]) {
        for action in actions {
            switch action {
            case .open(let route):
                open(route) { core, isOnline in
                    core.perform(
                        isOnline
                            ? core.typing.machine.routeOnline(route, now: .now)
                            : core.typing.machine.routeFailed(
                                route, detail: "the relay's address is none", isFinal: true))
                }
            case .close: reconcileLinks()
            case .sendExchange(let exchange, let peer, let route):
                _ = send(exchange.json, to: peer, sealed: false, over: links[route.url])
            case .sendAck(let ack, let peer, let sealed, let route):
                _ = send(ack.json, to: peer, sealed: sealed, over: links[route.url])
            case .startTimer(let delay): typing.timer.start(after: delay)
            case .stopTimer: typing.timer.stop()
            case .store(let desktop):
                store(desktop) { core, result in
                    core.perform(
                        result.map {
                            core.typing.machine.stored($0)
                        } failed: {
                            core.typing.machine.storeFailed(desktop.id, detail: $0.message)
                        })
                }
            case .report(let state): report(state)
            }
        }
    }

    private func report(_ state: DeviceTypedCodeState) {
        channel.post(HostEvent(.pairingChanged, data: state.data))
        switch state {
        case .entering, .submitting, .waiting: return
        case .success(let desktop): typing.end(.success(JSONValue.object(desktop.json).serialized()))
        case .failed(let failure): typing.end(.failure(HostError(failure)))
        }
    }
}
