package import Pairing
package import Wire

/// A peer and the relays over which it is reached.
package struct RoutedPeer: Peer, Equatable {
    package let id: PeerID
    /// The best first.
    package let urls: [String]
    /// The relay on the peer's local network, which rests while the peer is reached over ``relay``; `nil` = none does.
    package let lan: String?
    /// The peer's own relay elsewhere: what our host alone has named says nothing about where the peer is.
    package let relay: String?

    package init(_ id: PeerID, over urls: [String], lan: String? = nil, relay: String? = nil) {
        self.id = id
        self.urls = urls.enumerated().filter { urls.firstIndex(of: $1) == $0 }.map(\.element)
        self.lan = lan
        self.relay = relay
    }

    /// A desktop is reached over its local network, its relay, and the device's own relay, in this order.
    package init(_ desktop: PairedDesktop, ownRelay: String?) {
        self.init(
            desktop.id, over: [desktop.lanSignalingURL, desktop.relayURL, ownRelay].compactMap(\.self),
            lan: desktop.lanSignalingURL, relay: desktop.relayURL)
    }
}

/// The relays on local networks that need not be tried for now: every peer that is reached over one is reached over its
/// other relay. Such a relay is tried again when the network changes, and every ten minutes.
///
/// - Parameter isReached: whether a relay is up and has not called that peer absent. One that has may leave the peer
///   alone at home.
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
