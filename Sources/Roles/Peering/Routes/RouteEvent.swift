package import JSON
package import Signalling
package import Wire

/// Events that ``Routes`` reports to its role.
package enum RouteEvent: Sendable, Equatable {
    /// A route's link has another state; `online` = frames can be sent over it.
    case linkChanged(RouteID, LinkState)
    /// The peer has a new best route: it had none before, or a different one.
    case reachable(PeerID, over: RouteID)
    /// The peer has no usable route any more.
    case lost(PeerID, Loss)
    /// A peer's connection changed, or with `nil` this role's own. Post it to the host: `{"online","routes":[…]}`.
    case connectionChanged(PeerID?, JSONObject)
    /// A payload for us. Only its route vouches for its sender.
    case message(PeerMessage, over: RouteID)
    /// A relay could not deliver something because the peer is not connected there. Also reported for unknown peers;
    /// comes before ``lost(_:_:)``.
    case peerOffline(PeerID, over: RouteID)
    /// A relay reports that the peer has connected, so anything sent to its previous connection is lost. Comes after
    /// ``reachable(_:over:)``.
    case peerOnline(PeerID, over: RouteID)
    /// A relay says what the peer told it of itself: its `deviceInfo`.
    case peerInfo(PeerID, JSONObject)
    /// Whether the relay of the peer's best route reports absent peers, if it is not as it was. It comes before
    /// ``reachable(_:over:)``.
    case absenceReporting(PeerID, AbsenceReporting, over: RouteID)
    /// A probe has shown who names senders at a relay (WireDeployedRelays, "Forged senders").
    case senderNaming(SenderNaming, over: RouteID)
    /// The relay refused something after it had registered us. The text is the relay's, cleaned, for people.
    case refused(String, over: RouteID)
    /// An unreadable frame was dropped.
    case malformed(SignallingFrameError, over: RouteID)
    /// Its address is invalid; reported once while it is wanted.
    case invalid(RouteID, message: String)

    package enum Loss: Sendable, Equatable {
        /// No link is up.
        case disconnected
        /// Every link that is up has reported the peer offline.
        case absent
    }
}
