package import Pairing
package import Signalling
package import Wire

extension DeviceScanStateMachine: PairingMachine {
    package static let flow = PairingFlow.scan

    package static func step(_ action: DeviceScanAction) -> PairingStep<PairedDesktop> {
        switch action {
        case .open(let route): .connect(route)
        case .sendAck(let ack, let peer, let sealed, let route):
            .send(PairingMessage(flow, ack.json, to: peer, isSealed: sealed, .over(route)))
        case .close: .release
        case .startTimer(let delay): .startTimer(after: delay)
        case .stopTimer: .stopTimer
        case .store(let desktop): .store(desktop)
        case .report(let state): .report(PairingReport(state.data, state.outcome))
        }
    }

    package var endsUnawaited: Bool { true }

    package mutating func timerFired(now: EpochMilliseconds) -> [DeviceScanAction] { stepTimedOut(now: now) }
    package mutating func cancel(because reason: PairingReason) -> [DeviceScanAction] { cancel(reason) }

    package mutating func stored(_ desktop: PairedDesktop, now: EpochMilliseconds) -> [DeviceScanAction] {
        stored(desktop)
    }

    package mutating func storeFailed(_ desktop: PairedDesktop, detail: String?) -> [DeviceScanAction] {
        storeFailed(desktop.id, detail: detail)
    }

    package mutating func suspended(now: EpochMilliseconds) -> [DeviceScanAction] { suspended() }

    package mutating func linkChanged(
        _ url: String, _ state: RelayConnectionState, now: EpochMilliseconds
    ) -> [DeviceScanAction] {
        guard let route = route(at: url) else { return [] }
        switch state {
        case .online: return routeOnline(route, now: now)
        case .offline(let reason): return routeFailed(route, detail: reason.message, now: now)
        case .connecting, .registering: return []
        }
    }

    package mutating func linkInvalid(_ url: String, now: EpochMilliseconds) -> [DeviceScanAction] {
        guard let route = route(at: url) else { return [] }
        return routeFailed(route, detail: "invalid relay URL in the code", isFinal: true, now: now)
    }

    package mutating func peerOffline(
        _ peer: PeerID, overLink url: String, now: EpochMilliseconds
    ) -> [DeviceScanAction] {
        route(at: url).map { peerOffline(peer, over: $0, now: now) } ?? []
    }

    package mutating func relayRefused(
        _ detail: String, overLink url: String, now: EpochMilliseconds
    ) -> [DeviceScanAction] {
        route(at: url).map { relayRefused(over: $0, detail: detail, now: now) } ?? []
    }

    package mutating func sent(
        _ message: PairingMessage, relays: Int, now: EpochMilliseconds
    ) -> [DeviceScanAction] {
        guard case .over(let route) = message.path else { return [] }
        return ackSent(relays > 0, over: route, now: now)
    }
}

extension DeviceShowStateMachine: PairingMachine {
    package static let flow = PairingFlow.show

    package static func step(_ action: DeviceShowAction) -> PairingStep<PairedDesktop> {
        switch action {
        case .open(let route): .connect(route)
        case .close: .release
        case .sendHello(let peer, let route): .sendHello(to: peer, over: route)
        case .startTimer(let delay): .startTimer(after: delay)
        case .stopTimer: .stopTimer
        case .store(let desktop): .store(desktop)
        case .report(let state): .report(PairingReport(state.data, state.outcome))
        }
    }

    package var heldRoutes: [PairingRoute] { heldRoute.map { [$0] } ?? [] }
    package var endsUnawaited: Bool { true }

    package mutating func timerFired(now: EpochMilliseconds) -> [DeviceShowAction] { timedOut() }
    package mutating func cancel(because reason: PairingReason) -> [DeviceShowAction] { cancel(reason) }

    package mutating func stored(_ desktop: PairedDesktop, now: EpochMilliseconds) -> [DeviceShowAction] {
        stored(desktop)
    }

    package mutating func storeFailed(_ desktop: PairedDesktop, detail: String?) -> [DeviceShowAction] {
        storeFailed(desktop.id, detail: detail)
    }

    package mutating func suspended(now: EpochMilliseconds) -> [DeviceShowAction] { suspended() }

    package mutating func linkChanged(
        _ url: String, _ state: RelayConnectionState, now: EpochMilliseconds
    ) -> [DeviceShowAction] {
        guard let route = route(at: url) else { return [] }
        switch state {
        case .online: return routeOnline(route, now: now)
        case .offline(let reason): return routeFailed(route, detail: reason.message)
        case .connecting, .registering: return []
        }
    }

    package mutating func linkInvalid(_ url: String, now: EpochMilliseconds) -> [DeviceShowAction] {
        route(at: url).map { routeFailed($0, detail: "invalid relay URL", isFinal: true) } ?? []
    }
}

extension DeviceTypedCodeStateMachine: PairingMachine {
    package static let flow = PairingFlow.code

    package static func step(_ action: DeviceTypedCodeAction) -> PairingStep<PairedDesktop> {
        switch action {
        case .open(let route): .connect(route)
        case .close: .release
        case .sendExchange(let exchange, let peer, let route):
            .send(PairingMessage(flow, exchange.json, to: peer, isSealed: false, .over(route)))
        case .sendAck(let ack, let peer, let sealed, let route):
            .send(PairingMessage(flow, ack.json, to: peer, isSealed: sealed, .over(route)))
        case .startTimer(let delay): .startTimer(after: delay)
        case .stopTimer: .stopTimer
        case .store(let desktop): .store(desktop)
        case .report(let state): .report(PairingReport(state.data, state.outcome))
        }
    }

    package var heldRoutes: [PairingRoute] { heldRoute.map { [$0] } ?? [] }
    package var endsUnawaited: Bool { true }

    package mutating func timerFired(now: EpochMilliseconds) -> [DeviceTypedCodeAction] { timedOut(now: now) }
    package mutating func cancel(because reason: PairingReason) -> [DeviceTypedCodeAction] { cancel(reason) }

    package mutating func stored(_ desktop: PairedDesktop, now: EpochMilliseconds) -> [DeviceTypedCodeAction] {
        stored(desktop)
    }

    package mutating func storeFailed(_ desktop: PairedDesktop, detail: String?) -> [DeviceTypedCodeAction] {
        storeFailed(desktop.id, detail: detail)
    }

    /// The code is a new one each time.
    package mutating func removed(_ id: PeerID) {}

    package mutating func linkChanged(
        _ url: String, _ state: RelayConnectionState, now: EpochMilliseconds
    ) -> [DeviceTypedCodeAction] {
        guard let route = route(at: url) else { return [] }
        switch state {
        case .online: return routeOnline(route, now: now)
        case .offline(let reason): return routeFailed(route, detail: reason.message)
        case .connecting, .registering: return []
        }
    }

    package mutating func linkInvalid(_ url: String, now: EpochMilliseconds) -> [DeviceTypedCodeAction] {
        route(at: url).map { routeFailed($0, detail: "invalid relay URL", isFinal: true) } ?? []
    }

    package mutating func peerOffline(
        _ peer: PeerID, overLink url: String, now: EpochMilliseconds
    ) -> [DeviceTypedCodeAction] {
        route(at: url).map { peerOffline(peer, over: $0) } ?? []
    }

    package mutating func relayRefused(
        _ detail: String, overLink url: String, now: EpochMilliseconds
    ) -> [DeviceTypedCodeAction] {
        route(at: url).map { relayRefused(over: $0, detail: detail) } ?? []
    }
}
