package import JSON
package import Signalling
package import Wire

/// Events that ``Routes`` reports to its role.
package enum RouteEvent: Sendable, Equatable {
    /// A link's state changed; `online` = registered there.
    case linkChanged(url: String, RelayConnectionState)
    /// The peer has a new best route: it had none before, or a different one.
    case reachable(PeerID, over: String)
    /// The peer has no usable route any more.
    case lost(PeerID, Loss)
    /// A peer's connection changed, or with `nil` this role's own. Post it to the host: `{"online","routes":[…]}`.
    case connectionChanged(PeerID?, JSONObject)
    /// A payload for us. Only the relay vouches for its sender.
    case message(RelayMessage, over: String)
    /// A relay could not deliver something because the peer is not connected there. Also reported for unknown peers;
    /// comes before ``lost(_:_:)``.
    case peerOffline(PeerID, over: String)
    /// A relay reports that the peer has connected, so anything sent to its previous connection is lost. Comes after
    /// ``reachable(_:over:)``.
    case peerOnline(PeerID, over: String)
    /// Whether the relay of the peer's best route reports absent peers, if it is not as it was. It comes before
    /// ``reachable(_:over:)``.
    case absenceReporting(PeerID, AbsenceReporting, over: String)
    /// A probe has shown who names senders at a relay (WireDeployedRelays, "Forged senders").
    case senderNaming(SenderNaming, over: String)
    /// The relay refused something after it had registered us. The text is the relay's, cleaned, for people.
    case refused(String, over: String)
    /// An unreadable frame was dropped.
    case malformed(SignallingFrameError, over: String)
    /// Invalid relay URL; reported once while it is wanted.
    case invalidURL(String, message: String)

    package enum Loss: Sendable, Equatable {
        /// No link is up.
        case disconnected
        /// Every link that is up has reported the peer offline.
        case absent
    }
}
