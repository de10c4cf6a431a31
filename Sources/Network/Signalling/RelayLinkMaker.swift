package import Identity
package import Transport
package import Wire

/// The link to create to a relay.
package struct RelayLinkRequest: Sendable {
    package let url: String
    /// What is registered at every connect.
    package let registration: SignallingFrame.Register
    /// The key that proves the registered `did:key`; `nil` = a plain registration, such as a typed code's alias.
    package let key: SigningKey?
    /// Whether a plain registration writes its id as `from` into messages, as one with a key does by itself.
    package let namesItself: Bool

    package init(
        url: String, registration: SignallingFrame.Register, provingWith key: SigningKey?, namesItself: Bool = false
    ) {
        self.url = url
        self.registration = registration
        self.key = key
        self.namesItself = namesItself
    }
}

/// Makes links to relays: WebSockets, or relays in memory in tests.
package struct RelayLinkMaker: Sendable {
    package typealias Make =
        @Sendable @EventLoop (RelayLinkRequest, @escaping RouteLinkHandler) throws(TransportError) -> any RouteLink

    private let body: Make

    package init(_ body: @escaping Make) { self.body = body }

    /// Throws `invalid_url`. The link is not started.
    @EventLoop
    package func make(
        _ request: RelayLinkRequest, _ handler: @escaping RouteLinkHandler
    ) throws(TransportError) -> any RouteLink { try body(request, handler) }

    /// `caFile`: PEM certificates to trust instead of the system's.
    package static func webSockets(trusting caFile: String?) -> RelayLinkMaker {
        RelayLinkMaker { (request, handler) throws(TransportError) in
            RelayConnection(
                url: try WebSocketURL(request.url), registration: request.registration, provingWith: request.key,
                namesItself: request.namesItself, options: WebSocketClientOptions(trusting: caFile)
            ) { link, event in handler(link, event) }
        }
    }
}

extension RelayConnection: RouteLink {
    package var relay: RelayFacts? {
        RelayFacts(
            origin: url.origin, isProved: isProved, absenceReporting: absenceReporting, senderNaming: senderNaming)
    }
}
