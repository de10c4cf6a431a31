package import Pairing
package import Wire

extension DeviceScanStateMachine: DevicePairingMachine {
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

    package static var invalidURL: String { "invalid relay URL in the code" }

    package mutating func timerFired(now: EpochMilliseconds) -> [DeviceScanAction] { stepTimedOut(now: now) }
    package mutating func suspended(now: EpochMilliseconds) -> [DeviceScanAction] { suspended() }

    package mutating func sent(
        _ message: PairingMessage, relays: Int, now: EpochMilliseconds
    ) -> [DeviceScanAction] {
        guard case .over(let route) = message.path else { return [] }
        return ackSent(relays > 0, over: route, now: now)
    }
}

extension DeviceShowStateMachine: DevicePairingMachine {
    package static let flow = PairingFlow.show

    package static func step(_ action: DeviceShowAction) -> PairingStep<PairedDesktop> {
        switch action {
        case .open(let route): .connect(route)
        case .close: .release
        case .sendHello(let peer, let route, let proof): .sendHello(to: peer, over: route, proof)
        case .startTimer(let delay): .startTimer(after: delay)
        case .stopTimer: .stopTimer
        case .store(let desktop): .store(desktop)
        case .report(let state): .report(PairingReport(state.data, state.outcome))
        }
    }

    package var heldRoutes: [PairingRoute] { heldRoute.map { [$0] } ?? [] }

    package var asksPerson: Bool { if case .confirming = reported { true } else { false } }

    package mutating func timerFired(now: EpochMilliseconds) -> [DeviceShowAction] { timedOut(now: now) }
    package mutating func suspended(now: EpochMilliseconds) -> [DeviceShowAction] { suspended() }

    package mutating func routeFailed(
        _ route: RouteID, detail: String?, isFinal: Bool, now: EpochMilliseconds
    ) -> [DeviceShowAction] { routeFailed(route, detail: detail, isFinal: isFinal) }
}

extension DeviceTypedCodeStateMachine: DevicePairingMachine {
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

    package mutating func timerFired(now: EpochMilliseconds) -> [DeviceTypedCodeAction] { timedOut(now: now) }

    /// Nothing to forget: each code is used once.
    package mutating func removed(_ id: PeerID) {}

    package mutating func routeFailed(
        _ route: RouteID, detail: String?, isFinal: Bool, now: EpochMilliseconds
    ) -> [DeviceTypedCodeAction] { routeFailed(route, detail: detail, isFinal: isFinal) }

    package mutating func peerOffline(
        _ peer: PeerID, over route: RouteID, now: EpochMilliseconds
    ) -> [DeviceTypedCodeAction] { peerOffline(peer, over: route) }

    package mutating func relayRefused(
        over route: RouteID, detail: String?, now: EpochMilliseconds
    ) -> [DeviceTypedCodeAction] { relayRefused(over: route, detail: detail) }
}
