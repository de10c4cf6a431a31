package import JSON
package import Wire

/// A payload as it came, opened where it was sealed: what the machines are told of it.
///
/// Whoever carries a machine out gives it every payload of its peer; it takes what is of use.
package struct PairingFrame: Sendable, Equatable {
    /// The whole payload, `type` included. Empty where it is no object.
    package var payload: JSONObject
    /// Written by the relay; of a sealed payload also who has sealed it.
    package var from: PeerID
    /// It came in a seal that held (protocol.md 4.2).
    package var isSealed: Bool
    /// The sender is paired sealed: its plaintext counts for nothing, whoever wrote it.
    package var isOfSecurePeer: Bool
    package var form: PayloadForm
    package var delivery: SignallingDelivery

    package init(
        _ payload: JSONObject, from: PeerID, isSealed: Bool = false, isOfSecurePeer: Bool = false,
        form: PayloadForm = .object, delivery: SignallingDelivery = .live
    ) {
        self.payload = payload
        self.from = from
        self.isSealed = isSealed
        self.isOfSecurePeer = isOfSecurePeer
        self.form = form
        self.delivery = delivery
    }

    var type: String? { payload["type"]?.string }

    /// The inner payload of a `bellwire:` type, as an object.
    var inner: JSONObject { payload["payload"]?.object ?? [:] }
}

/// Pairing frames that were dropped, by what was wrong with them. None is ever answered: a guesser learns nothing.
package struct DroppedFrames: Sendable, Equatable {
    /// Not what its type says, or a field that does not hold.
    package var malformed = 0
    package var wrongCode = 0
    /// The relay's `from` is not who the frame says it is of.
    package var wrongSender = 0
    /// Stored by a relay before the offer began, at no known time, or where only live frames count.
    package var stored = 0
    /// Nothing is open, or another peer has taken it.
    package var notOpen = 0
    /// Plain, where only a sealed one counts.
    package var notSecure = 0
    /// Sealed, with the right code, by somebody who does not know the secret.
    package var wrongProof = 0

    package init() {}

    package var total: Int {
        malformed &+ wrongCode &+ wrongSender &+ stored &+ notOpen &+ notSecure &+ wrongProof
    }
}
