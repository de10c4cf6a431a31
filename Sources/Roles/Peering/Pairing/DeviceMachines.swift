package import Pairing
package import Wire

extension DeviceScanStateMachine: DevicePairingMachine {
    package static let flow = PairingFlow.scan
    package static var invalidURL: String { "invalid relay URL in the code" }

    package mutating func suspended(now: EpochMilliseconds) -> [PairingStep<PairedDesktop>] { suspended() }

    package mutating func sent(
        _ path: PairingPath, routes: Int, now: EpochMilliseconds
    ) -> [PairingStep<PairedDesktop>] {
        guard case .over(let route) = path else { return [] }
        return ackSent(routes > 0, over: route, now: now)
    }
}

extension DeviceShowStateMachine: DevicePairingMachine {
    package static let flow = PairingFlow.show

    package var heldRoutes: [PairingRoute] { heldRoute.map { [$0] } ?? [] }
    package var asksPerson: Bool { if case .confirming = reported { true } else { false } }

    package mutating func suspended(now: EpochMilliseconds) -> [PairingStep<PairedDesktop>] { suspended() }

    package mutating func routeFailed(
        _ route: RouteID, detail: String?, isFinal: Bool, now: EpochMilliseconds
    ) -> [PairingStep<PairedDesktop>] { routeFailed(route, detail: detail, isFinal: isFinal) }
}

extension DeviceTypedCodeStateMachine: DevicePairingMachine {
    package static let flow = PairingFlow.code

    package var heldRoutes: [PairingRoute] { heldRoute.map { [$0] } ?? [] }

    /// Nothing to forget: each code is used once.
    package mutating func removed(_ id: PeerID) {}

    package mutating func routeFailed(
        _ route: RouteID, detail: String?, isFinal: Bool, now: EpochMilliseconds
    ) -> [PairingStep<PairedDesktop>] { routeFailed(route, detail: detail, isFinal: isFinal) }

    package mutating func peerOffline(
        _ peer: PeerID, over route: RouteID, now: EpochMilliseconds
    ) -> [PairingStep<PairedDesktop>] { peerOffline(peer, over: route) }

    package mutating func relayRefused(
        over route: RouteID, detail: String?, now: EpochMilliseconds
    ) -> [PairingStep<PairedDesktop>] { relayRefused(over: route, detail: detail) }
}
