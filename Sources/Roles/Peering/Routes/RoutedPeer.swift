package import Pairing
package import Wire

/// A peer and the addresses at which it is reached.
package struct RoutedPeer: Peer, Equatable {
    package let id: PeerID
    /// The best first.
    package let addresses: [String]
    package let routes: [RouteID]
    /// The relay on the peer's local network. It rests while the peer is reached over ``relay``.
    package let lan: RouteID?
    /// The relay that the peer itself named. The host's own relay doesn't count: it says nothing about where the peer is.
    package let relay: RouteID?

    package init(_ id: PeerID, over addresses: [String], lan: String? = nil, relay: String? = nil) {
        self.init(id, addresses, lan: lan.map { RouteID($0) }, relay: relay.map { RouteID($0) })
    }

    private init(_ id: PeerID, _ addresses: [String], lan: RouteID?, relay: RouteID?) {
        self.id = id
        self.addresses = addresses.enumerated().filter { addresses.firstIndex(of: $1) == $0 }.map(\.element)
        routes = self.addresses.map { RouteID($0) }
        self.lan = lan
        self.relay = relay
    }

    /// A desktop's routes: its local network, its relay, then the device's own relay.
    package init(_ desktop: PairedDesktop, ownRelay: String?) {
        self.init(
            desktop.id, over: [desktop.lanSignalingURL, desktop.relayURL, ownRelay].compactMap(\.self),
            lan: desktop.lanSignalingURL, relay: desktop.relayURL)
    }

    /// The same with the addresses at which each kind reaches the peer by itself.
    func reached(by kinds: [RouteKind]) -> RoutedPeer {
        RoutedPeer(id, kinds.flatMap { $0.reaches(id) } + addresses, lan: lan, relay: relay)
    }
}

/// Local-network relays that need no reconnect attempts for now, because every peer on them is reached over its other
/// relay. They are retried when the network changes, and every ten minutes.
///
/// - Parameter isReached: whether a relay is up and hasn't reported that peer offline. If it has, the peer may only be
///   reachable on its local network.
package func restingRoutes(of peers: [RoutedPeer], isReached: (PeerID, RouteID) -> Bool) -> Set<RouteID> {
    var resting: Set<RouteID> = []
    var needed: Set<RouteID> = []
    for peer in peers {
        if let relay = peer.relay { needed.insert(relay) }
        guard let lan = peer.lan else { continue }
        if let relay = peer.relay, relay != lan, isReached(peer.id, relay) {
            resting.insert(lan)
        } else {
            needed.insert(lan)
        }
    }
    return resting.subtracting(needed)
}
