package import JSON
package import Transport
package import Wire

/// A connection over which peers are reached, as the roles use it: to a relay, or of another kind.
///
/// Everything happens on the event loop. Releasing a link ends it.
@EventLoop
package protocol RouteLink: AnyObject {
    var state: LinkState { get }
    /// What is known of the relay; `nil` = there is none in between.
    var relay: RelayFacts? { get }

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
    ///
    /// - Parameter sealed: what it says of the payload to a relay. It seals nothing.
    func send(to peer: PeerID, payload: JSONValue, sealed: Bool) -> SendResult
    /// Asks the relay which peers are online. Some relays don't answer.
    func askForPeers()
}

extension RouteLink {
    package func askForPeers() {}
}

/// Receives a link's events. Never called from inside the owner's calls, except for state changes.
package typealias RouteLinkHandler = @EventLoop (any RouteLink, LinkEvent) -> Void

/// What is known of a relay, beside how the connection to it stands.
package struct RelayFacts: Sendable, Equatable {
    /// For logs.
    package var origin: String
    /// Whether the relay has verified a proof of our id: only then does it deliver sealed messages.
    package var isProved: Bool
    /// Whether the relay reports absent peers, as far as this registration has shown.
    package var absenceReporting: AbsenceReporting
    /// Who names the sender of a message at the relay, as far as is known.
    package var senderNaming: SenderNaming

    package init(
        origin: String = "", isProved: Bool = false, absenceReporting: AbsenceReporting = .reports,
        senderNaming: SenderNaming = .unknown
    ) {
        self.origin = origin
        self.isProved = isProved
        self.absenceReporting = absenceReporting
        self.senderNaming = senderNaming
    }
}
