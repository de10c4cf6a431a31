package import Pairing
package import Signalling
package import Wire

/// A device's pairing machine: it reaches the desktop over routes of its own, named in a code or by the host.
///
/// The machines know routes; the coordinator knows links by their URLs. The extension maps one to the other.
package protocol DevicePairingMachine: PairingMachine where Known == PairedDesktop {
    /// What the report says about a route with an invalid URL.
    static var invalidURL: String { get }

    mutating func cancel(_ reason: PairingReason) -> [Action]
    mutating func stored(_ desktop: PairedDesktop) -> [Action]
    mutating func storeFailed(_ id: PeerID, detail: String?) -> [Action]
    mutating func routeOnline(_ route: PairingRoute, now: EpochMilliseconds) -> [Action]
    /// - Parameter isFinal: it won't come back.
    mutating func routeFailed(
        _ route: PairingRoute, detail: String?, isFinal: Bool, now: EpochMilliseconds
    ) -> [Action]
    mutating func peerOffline(_ peer: PeerID, over route: PairingRoute, now: EpochMilliseconds) -> [Action]
    mutating func relayRefused(over route: PairingRoute, detail: String?, now: EpochMilliseconds) -> [Action]
}

extension DevicePairingMachine {
    package static var invalidURL: String { "invalid relay URL" }

    package var endsUnawaited: Bool { true }

    package mutating func cancel(because reason: PairingReason) -> [Action] { cancel(reason) }

    package mutating func stored(_ desktop: PairedDesktop, now: EpochMilliseconds) -> [Action] { stored(desktop) }

    package mutating func storeFailed(_ desktop: PairedDesktop, detail: String?) -> [Action] {
        storeFailed(desktop.id, detail: detail)
    }

    package mutating func linkChanged(
        _ url: String, _ state: RelayConnectionState, now: EpochMilliseconds
    ) -> [Action] {
        guard let route = route(at: url) else { return [] }
        switch state {
        case .online: return routeOnline(route, now: now)
        case .offline(let reason): return routeFailed(route, detail: reason.message, isFinal: false, now: now)
        case .connecting, .registering: return []
        }
    }

    package mutating func linkInvalid(_ url: String, now: EpochMilliseconds) -> [Action] {
        guard let route = route(at: url) else { return [] }
        return routeFailed(route, detail: Self.invalidURL, isFinal: true, now: now)
    }

    package mutating func peerOffline(_ peer: PeerID, overLink url: String, now: EpochMilliseconds) -> [Action] {
        guard let route = route(at: url) else { return [] }
        return peerOffline(peer, over: route, now: now)
    }

    package mutating func relayRefused(
        _ detail: String, overLink url: String, now: EpochMilliseconds
    ) -> [Action] {
        guard let route = route(at: url) else { return [] }
        return relayRefused(over: route, detail: detail, now: now)
    }
}
