package import Identity
package import JSON
package import Transport
package import Wire

/// A connection to one relay, as its owner uses it.
///
/// ``RelayConnection`` is one over a WebSocket. Everything happens on the event loop. Letting go of a link ends it.
@EventLoop
package protocol RelayLink: AnyObject {
    /// The relay's origin, for logs.
    var origin: String { get }
    var state: RelayConnectionState { get }
    /// Whether the relay has asked for a proof of our id, and taken it: only then it gives us sealed messages.
    var isProved: Bool { get }
    /// Whether it rests while it is down.
    var isResting: Bool { get }

    /// Connects, and stays connected. Idempotent.
    func start()
    /// Disconnects until the next ``start()``. Idempotent.
    func stop()
    /// Disconnects until ``resume()``: the machine goes to sleep. Idempotent.
    func suspend()
    func resume()
    /// A link that rests and is down tries again only every ten minutes, and when ``reconnectNow()`` is called.
    func rest(_ isResting: Bool)
    /// Connects anew without a wait, unless it is stopped or suspended.
    func reconnectNow()
    /// Sends a payload. Nothing is kept while offline: the caller decides.
    func send(to peer: PeerID, payload: JSONValue, sealed: Bool) -> SendResult
    /// Sends a frame that relays route whole; `routed.to` names the target.
    func send(routed: SignallingFrame.Routed) -> SendResult
}

/// Hears what a link tells; never called inside a call that its owner makes, but for changes of state.
package typealias RelayLinkHandler = @EventLoop (any RelayLink, RelayEvent) -> Void

/// Which link to make.
package struct RelayLinkRequest: Sendable {
    package let url: String
    /// What is registered at every connect.
    package let registration: SignallingFrame.Register
    /// The key whose `did:key` is registered, to prove it; `nil` = a plain registration, such as a typed code's alias.
    package let key: SigningKey?

    package init(url: String, registration: SignallingFrame.Register, provingWith key: SigningKey?) {
        self.url = url
        self.registration = registration
        self.key = key
    }
}

/// Makes links to relays: a role dials WebSockets, a test may stay in memory.
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
                options: WebSocketClientOptions(trusting: caFile)
            ) { link, event in handler(link, event) }
        }
    }
}

extension RelayConnection: RelayLink {
    package var origin: String { url.origin }
}
