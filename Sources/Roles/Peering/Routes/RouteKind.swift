package import Identity
package import Signalling
package import Transport
package import Wire

/// A kind of route: which addresses it serves, and how it opens them.
///
/// A role is given its kinds when it is opened; nothing but ``Routes`` knows them. The first kind that serves an address
/// opens it.
package struct RouteKind: Sendable {
    package typealias Make =
        @Sendable @EventLoop (_ address: String, _ own: PeerID, @escaping RouteLinkHandler) throws(TransportError) ->
        any RouteLink

    /// A route of a higher rank is better. Routes of one rank keep the order in which the peer names them.
    let rank: Int
    let serves: @Sendable (String) -> Bool
    /// The addresses at which it reaches a paired peer, beside those that the peer has named.
    let reaches: @Sendable (PeerID) -> [String]
    private let body: Make

    package init(
        rank: Int, serves: @escaping @Sendable (String) -> Bool,
        reaches: @escaping @Sendable (PeerID) -> [String] = { _ in [] }, make body: @escaping Make
    ) {
        self.rank = rank
        self.serves = serves
        self.reaches = reaches
        self.body = body
    }

    /// Throws `invalid_url`. The link isn't started.
    @EventLoop
    package func make(
        _ address: String, _ own: PeerID, _ handler: @escaping RouteLinkHandler
    ) throws(TransportError) -> any RouteLink { try body(address, own, handler) }

    /// Relays, by their URLs: every address that no other kind serves.
    package static func relays(
        _ links: RelayLinkMaker, registration: SignallingFrame.Register, provingWith key: SigningKey
    ) -> RouteKind {
        RouteKind(rank: 0) { _ in
            true
        } make: { (url, _, handler) throws(TransportError) in
            try links.make(
                RelayLinkRequest(url: url, registration: registration, provingWith: key), handler)
        }
    }
}
