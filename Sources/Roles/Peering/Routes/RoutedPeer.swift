package import Pairing
package import Wire

/// A peer and the relays over which it is reached.
package struct RoutedPeer: Peer, Equatable {
    package let id: PeerID
    /// The best first.
    package let urls: [String]
    /// The relay on the peer's local network. It rests while the peer is reached over ``relay``.
    package let lan: String?
    /// The relay that the peer itself named. The host's own relay doesn't count: it says nothing about where the peer is.
    package let relay: String?

    package init(_ id: PeerID, over urls: [String], lan: String? = nil, relay: String? = nil) {
        self.id = id
        self.urls = urls.enumerated().filter { urls.firstIndex(of: $1) == $0 }.map(\.element)
        self.lan = lan
        self.relay = relay
    }

    /// A desktop's routes: its local network, its relay, then the device's own relay.
    package init(_ desktop: PairedDesktop, ownRelay: String?) {
        self.init(
            desktop.id, over: [desktop.lanSignalingURL, desktop.relayURL, ownRelay].compactMap(\.self),
            lan: desktop.lanSignalingURL, relay: desktop.relayURL)
    }
}

/// Local-network relays that need no reconnect attempts for now, because every peer on them is reached over its other
/// relay. They are retried when the network changes, and every ten minutes.
///
/// - Parameter isReached: whether a relay is up and hasn't reported that peer offline. If it has, the peer may only be
///   reachable on its local network.
package func restingRoutes(of peers: [RoutedPeer], isReached: (PeerID, String) -> Bool) -> Set<String> {
    var resting: Set<String> = []
    var needed: Set<String> = []
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
