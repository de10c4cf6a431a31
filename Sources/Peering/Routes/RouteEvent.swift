package import JSON
package import Signalling
package import Wire

/// What ``Routes`` tells its role.
package enum RouteEvent: Sendable, Equatable {
    /// A link is another way up or down; `online` = we are registered there.
    case linkChanged(url: String, RelayConnectionState)
    /// The peer's best route is this one now: it had none, or another one.
    case reachable(PeerID, over: String)
    /// The peer has no route any more.
    case lost(PeerID, Loss)
    /// The host is to hear how a peer is connected, or with `nil` how this role is: `{"online","routes":[…]}`.
    case connectionChanged(PeerID?, JSONObject)
    /// A payload for us, from whoever the relay names.
    case message(RelayMessage, over: String)
    /// A relay has nobody of that id: something that was sent came back. Comes for strangers too, and before ``lost(_:_:)``.
    case peerOffline(PeerID, over: String)
    /// A relay says that the peer has come: what was on its way to its connection before is lost. Comes after
    /// ``reachable(_:over:)``.
    case peerOnline(PeerID, over: String)
    /// The relay refused something after it had registered us. The text is the relay's, cleaned, for people.
    case refused(String, over: String)
    /// A frame that could not be read was dropped.
    case malformed(SignallingFrameError, over: String)
    /// An address that is none; told once while it is wanted.
    case invalidURL(String, message: String)

    package enum Loss: Sendable, Equatable {
        /// No link is up.
        case disconnected
        /// Each link that is up has called it absent.
        case absent
    }
}
