package import Pairing
package import Signalling
package import Wire

/// A device's pairing machine: it reaches the desktop over routes of its own, named in a code or by the host.
package protocol DevicePairingMachine: PairingMachine where Known == PairedDesktop {
    /// What the report says about a route with an invalid URL.
    static var invalidURL: String { get }

    mutating func stored(_ desktop: PairedDesktop) -> [PairingStep<PairedDesktop>]
    mutating func storeFailed(_ id: PeerID, detail: String?) -> [PairingStep<PairedDesktop>]
    mutating func routeOnline(_ route: RouteID, now: EpochMilliseconds) -> [PairingStep<PairedDesktop>]
    /// - Parameter isFinal: it won't come back.
    mutating func routeFailed(_ route: RouteID, detail: String?, isFinal: Bool, now: EpochMilliseconds) -> [PairingStep<
        PairedDesktop
    >]
}

extension DevicePairingMachine {
    package static var invalidURL: String { "invalid relay URL" }

    package var endsUnawaited: Bool { true }

    package mutating func stored(_ desktop: PairedDesktop, now: EpochMilliseconds) -> [PairingStep<PairedDesktop>] {
        stored(desktop)
    }

    package mutating func storeFailed(_ desktop: PairedDesktop, detail: String?) -> [PairingStep<PairedDesktop>] {
        storeFailed(desktop.id, detail: detail)
    }

    package mutating func linkChanged(
        _ route: RouteID, _ state: LinkState, now: EpochMilliseconds
    ) -> [PairingStep<PairedDesktop>] {
        guard holds(route) else { return [] }
        switch state {
        case .online: return routeOnline(route, now: now)
        case .offline(let reason): return routeFailed(route, detail: reason.message, isFinal: false, now: now)
        case .connecting, .registering: return []
        }
    }

    package mutating func linkInvalid(_ route: RouteID, now: EpochMilliseconds) -> [PairingStep<PairedDesktop>] {
        guard holds(route) else { return [] }
        return routeFailed(route, detail: Self.invalidURL, isFinal: true, now: now)
    }
}
