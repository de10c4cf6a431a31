package import Identity
package import JSON
package import Transport
package import Wire

/// A connection to one relay, as its owner uses it.
///
/// ``RelayConnection`` is one over a WebSocket. Everything happens on the event loop. Releasing a link ends it.
@EventLoop
package protocol RelayLink: AnyObject {
    /// The relay's origin, for logs.
    var origin: String { get }
    var state: RelayConnectionState { get }
    /// Whether the relay has verified a proof of our id: only then does it deliver sealed messages.
    var isProved: Bool { get }
    /// Whether the relay reports absent peers, as far as this registration has shown.
    var absenceReporting: AbsenceReporting { get }
    /// Who names the sender of a message at the relay, as far as is known.
    var senderNaming: SenderNaming { get }
    /// Whether it rests while it is down.
    var isResting: Bool { get }

    /// Connects, and stays connected. Idempotent.
    func start()
    /// Disconnects until the next ``start()``. Idempotent.
    func stop()
    /// Disconnects until ``resume()``: the machine goes to sleep. Idempotent.
    func suspend()
    func resume()
    /// A resting link that is down retries only every ten minutes, and when ``reconnectNow()`` is called.
    func rest(_ isResting: Bool)
    /// Reconnects at once, unless it is stopped or suspended.
    func reconnectNow()
    /// Sends a payload. Nothing is kept while offline: the caller decides.
    func send(to peer: PeerID, payload: JSONValue, sealed: Bool) -> SendResult
    /// Sends a frame that relays route whole; `routed.to` names the target.
    func send(routed: SignallingFrame.Routed) -> SendResult
}

/// Receives a link's events. Never called from inside the owner's calls, except for state changes.
package typealias RelayLinkHandler = @EventLoop (any RelayLink, RelayEvent) -> Void

/// The link to create.
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
        @Sendable @EventLoop (RelayLinkRequest, @escaping RelayLinkHandler) throws(TransportError) -> any RelayLink

    /// Throws `invalid_url`. The link is not started.
    package let make: Make

    package init(_ make: @escaping Make) { self.make = make }

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

extension RelayConnection: RelayLink {
    package var origin: String { url.origin }
}
