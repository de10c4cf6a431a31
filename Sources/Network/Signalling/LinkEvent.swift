package import JSON
package import Wire

/// An event that a ``RouteLink`` reports to its owner. Links without a relay report only the first two and `malformed`.
package enum LinkEvent: Sendable, Equatable {
    case stateChanged(LinkState)
    /// A payload for us. Live, or kept by the relay until we came: then `storedAt` is told.
    case message(PeerMessage)
    /// A frame that was routed whole: pairing frames, and the exchanges that set up a data channel.
    case routed(SignallingFrame.Routed, delivery: SignallingDelivery)
    /// The target of something that we sent is not there. It never tells which message: match by id.
    case peerOffline(PeerID)
    /// `info`: what it told the relay of itself.
    case peerStatus(PeerID, isOnline: Bool, info: JSONObject? = nil)
    /// The answer to ``RouteLink/askForPeers()``: what peers that are online told the relay of themselves.
    case peers([PeerID: JSONObject])
    /// Whether the relay reports absent peers: this registration has shown it.
    case absenceReporting(AbsenceReporting)
    /// Who names the sender of a message at the relay: a probe has shown it.
    case senderNaming(SenderNaming)
    /// The relay refused something after it had registered us. The text is the relay's, cleaned, for people.
    case refused(String)
    /// A frame that could not be read; it was dropped.
    case malformed(SignallingFrameError)
}

/// A payload of a peer's, as its link delivers it.
package struct PeerMessage: Sendable, Equatable {
    /// Written by the relay; of a link without one, the peer at its other end.
    package var from: PeerID
    /// As it came: an object, or a text that holds the JSON of one.
    package var payload: JSONValue
    package var timestamp: EpochMilliseconds?
    package var delivery: SignallingDelivery
    /// Whether the frame claims it. This only describes its routing and proves nothing; only opening the seal does.
    package var isSealed: Bool

    package init(
        from: PeerID, payload: JSONValue, timestamp: EpochMilliseconds?, delivery: SignallingDelivery,
        isSealed: Bool = false
    ) {
        self.from = from
        self.payload = payload
        self.timestamp = timestamp
        self.delivery = delivery
        self.isSealed = isSealed
    }
}

/// The outcome of sending a frame.
package enum SendResult: Sendable, Equatable {
    /// Handed to the connection. Whether it arrives, only an answer can tell.
    case written
    /// Not registered: nothing was sent and nothing is kept here. The caller decides.
    case offline
    /// Longer than ``RelayConnection/maximumFrame``. Sending it again cannot help.
    case tooLarge
    /// The relay does not read fast enough: more than 4 MiB wait already, or it would close the connection for sending too
    /// much. Try again later.
    case congested

    package var isWritten: Bool { self == .written }
}
