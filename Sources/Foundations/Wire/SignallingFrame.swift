package import JSON

/// One frame between a peer and its relay (Wire, "Frames").
///
/// Decoding is tolerant: unknown fields are ignored and a field of the wrong type counts as absent, unless the frame
/// means nothing without it. Encoding is strict.
package enum SignallingFrame: Sendable, Equatable {
    case register(Register)
    /// The relay asks for a proof of the id in a ``Register``. Unless `isBound`, a proxy ends the TLS of this connection,
    /// and the proof leaves out its exporter (Wire, "Proof of an id").
    case challenge(nonce: String, isBound: Bool = true)
    case registered(Registered)
    case message(Message)
    case peerOffline(PeerOffline)
    /// A frame that the relay had kept for us.
    case offlineMessage(Stored)
    case peerStatus(PeerStatus)
    /// What the peers that are online told the relay of themselves: their `deviceInfo`.
    case peersList([PeerID: JSONObject])
    /// A frame that a relay routes whole, top-level fields and all.
    case routed(Routed)
    case ping
    case pong(timestamp: EpochMilliseconds?)
    /// The relay refused something.
    case error(Refusal)
    case serverShutdown
    /// A frame that is of no concern here: `offer-pending`, or a type of tomorrow.
    case other(type: String)
}

extension SignallingFrame {
    /// Claims an id on this connection.
    package struct Register: Sendable, Equatable {
        package var peerID: PeerID
        package var deviceType: DeviceType?
        package var deviceInfo: JSONObject?
        /// The version of the proof that the peer speaks: 1. Asks for a challenge (Wire, "Proof of an id").
        package var bellwire: Int64?
        /// The answer to a challenge.
        package var proof: Proof?

        package init(
            peerID: PeerID, deviceType: DeviceType? = nil, deviceInfo: JSONObject? = nil, bellwire: Int64? = nil,
            proof: Proof? = nil
        ) {
            self.peerID = peerID
            self.deviceType = deviceType
            self.deviceInfo = deviceInfo
            self.bellwire = bellwire
            self.proof = proof
        }
    }

    /// Proves that whoever registers an id holds its key (Wire, "Proof of an id"). All texts as on the wire.
    package struct Proof: Sendable, Equatable {
        package var nonce: String
        package var origin: String
        /// base64url.
        package var signature: String

        package init(nonce: String, origin: String, signature: String) {
            self.nonce = nonce
            self.origin = origin
            self.signature = signature
        }
    }

    package enum DeviceType: String, Sendable {
        case mobile
        case desktop
    }

    /// The relay has accepted a ``Register``.
    package struct Registered: Sendable, Equatable {
        /// The id as the relay repeats it; a relay that leaves it out means the one that was asked for.
        package var peerID: PeerID?
        package var serverTime: EpochMilliseconds?
        package var isReconnect: Bool

        package init(peerID: PeerID?, serverTime: EpochMilliseconds? = nil, isReconnect: Bool = false) {
            self.peerID = peerID
            self.serverTime = serverTime
            self.isReconnect = isReconnect
        }
    }

    /// A payload on its way: with `to` from a peer to its relay, with `from` from a relay to a peer.
    package struct Message: Sendable, Equatable {
        package var to: PeerID?
        /// Written by the relay, which never believes the sender's.
        package var from: PeerID?
        /// As it came: an object, or a text that holds the JSON of one (``payloadForm``).
        package var payload: JSONValue
        package var timestamp: EpochMilliseconds?
        /// Only for a proved registration (Wire, "Routing").
        package var isSealed: Bool

        package init(
            to: PeerID? = nil, from: PeerID? = nil, payload: JSONValue, timestamp: EpochMilliseconds? = nil,
            isSealed: Bool = false
        ) {
            self.to = to
            self.from = from
            self.payload = payload
            self.timestamp = timestamp
            self.isSealed = isSealed
        }
    }

    /// What an `error` says.
    package struct Refusal: Sendable, Equatable, ExpressibleByStringLiteral {
        /// The relay's own text, cleaned and bounded, for people.
        package var text: String
        /// Relays of ours name what they refuse: `id_taken`, `bad_proof`, …
        package var code: String?

        package init(_ text: String, code: String? = nil) {
            self.text = text
            self.code = code
        }

        package init(stringLiteral text: String) { self.init(text) }
    }

    /// The target of something that we sent is not there. It never tells which message: match by id.
    package struct PeerOffline: Sendable, Equatable {
        package var peerID: PeerID
        package var messageType: String?

        package init(peerID: PeerID, messageType: String? = nil) {
            self.peerID = peerID
            self.messageType = messageType
        }
    }

    package struct PeerStatus: Sendable, Equatable {
        package var peerID: PeerID
        package var isOnline: Bool
        /// What it told the relay of itself.
        package var deviceInfo: JSONObject?

        package init(peerID: PeerID, isOnline: Bool, deviceInfo: JSONObject? = nil) {
            self.peerID = peerID
            self.isOnline = isOnline
            self.deviceInfo = deviceInfo
        }
    }

    /// What an `offline-message` holds: one frame that was routed while we were away, and when.
    package struct Stored: Sendable, Equatable {
        package enum Original: Sendable, Equatable {
            case message(Message)
            case routed(Routed)
        }

        package var original: Original
        package var storedAt: EpochMilliseconds?
        package var deliveredAt: EpochMilliseconds?

        package init(
            original: Original, storedAt: EpochMilliseconds? = nil, deliveredAt: EpochMilliseconds? = nil
        ) {
            self.original = original
            self.storedAt = storedAt
            self.deliveredAt = deliveredAt
        }
    }

    /// A frame that is routed whole: pairing frames and the exchanges that set up a data channel.
    package struct Routed: Sendable, Equatable {
        package enum Kind: String, Sendable, CaseIterable {
            case offer
            case answer
            case iceCandidate = "ice-candidate"
            case iceCandidates = "ice-candidates"
            case pairingRequest = "pairing:request"
            case pairingConfirmation = "pairing:confirmation"
            case pairingReject = "pairing:reject"
        }

        package var kind: Kind
        package var to: PeerID?
        package var from: PeerID?
        /// Every member of the frame as it came, `type`, `to` and `from` included.
        package var members: JSONObject

        package init(kind: Kind, to: PeerID? = nil, from: PeerID? = nil, members: JSONObject = [:]) {
            self.kind = kind
            self.to = to
            self.from = from
            self.members = members
            self.members["type"] = .string(kind.rawValue)
            self.members["to"] = (to?.text).map(JSONValue.string)
            self.members["from"] = (from?.text).map(JSONValue.string)
        }
    }
}
