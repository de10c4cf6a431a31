/// The frames that the relay itself writes (Wire, "Registering" and what follows it).
enum RelayFrame {
    static func registered(_ registration: Registration, isReconnect: Bool, at moment: Moment) -> [UInt8] {
        var frame = FrameWriter(type: "registered")
        frame.add("peerId", json: registration.quoted)
        frame.add("serverTime", number: moment.epoch)
        if isReconnect { frame.add("isReconnect", flag: true) }
        return frame.finished
    }

    /// `nonce` is base64url. Unless `isBound`, the proof leaves out the exporter of TLS (Wire, "Proof of an id").
    static func challenge(_ nonce: String, isBound: Bool = true) -> [UInt8] {
        var frame = FrameWriter(type: "challenge")
        frame.add("nonce", text: nonce.utf8)
        if !isBound { frame.add("exporter", flag: false) }
        return frame.finished
    }

    /// `messageID` is the JSON text that the frame had.
    static func peerOffline(
        _ name: [UInt8], messageID: UnsafeRawBufferPointer?, messageType: UnsafeRawBufferPointer, at moment: Moment
    ) -> [UInt8] {
        var frame = FrameWriter(type: "peer-offline")
        frame.add("peerId", text: name)
        if let messageID { frame.add("messageId", json: messageID) }
        frame.add("messageType", json: messageType)
        frame.add("timestamp", number: moment.epoch)
        return frame.finished
    }

    /// `storedAt` in epoch milliseconds.
    static func offlineMessage(_ stored: [UInt8], storedAt: Int64, at moment: Moment) -> [UInt8] {
        var frame = FrameWriter(type: "offline-message")
        frame.add("originalMessage", json: stored)
        frame.add("storedAt", number: storedAt)
        frame.add("deliveredAt", number: moment.epoch)
        return frame.finished
    }

    /// At least what ``offlineMessage(_:at:)`` puts around a frame: its keys, and two times.
    static let maximumOfflineWrapping = 128

    /// `device` = the peer is online with it.
    static func peerStatus(
        _ name: [UInt8], _ device: Device?, isAnswer: Bool = false, at moment: Moment
    ) -> [UInt8] {
        var frame = FrameWriter(type: isAnswer ? "peer-status-response" : "peer-status")
        frame.add("peerId", text: name)
        if let device {
            frame.add("status", "online")
            device.add(to: &frame)
        } else {
            frame.add("status", "offline")
        }
        frame.add("timestamp", number: moment.epoch)
        return frame.finished
    }

    static func peersList(_ peers: [(name: [UInt8], at: Whereabouts)], at moment: Moment) -> [UInt8] {
        var frame = FrameWriter(type: "peers-list")
        frame.add(
            "peers",
            objects: peers.map { peer in
                var quoted: [UInt8] = []
                JSONText.appendQuoted(peer.name, to: &quoted)
                var entry = FrameWriter(first: "peerId", json: quoted)
                peer.at.device.add(to: &entry)
                entry.add("connectedAt", number: peer.at.registeredAt)
                return entry
            })
        frame.add("count", number: Int64(peers.count))
        frame.add("timestamp", number: moment.epoch)
        return frame.finished
    }

    static func pong(at moment: Moment) -> [UInt8] {
        var frame = FrameWriter(type: "pong")
        frame.add("timestamp", number: moment.epoch)
        return frame.finished
    }

    static func shutdown(at moment: Moment) -> [UInt8] {
        var frame = FrameWriter(type: "server-shutdown")
        frame.add("timestamp", number: moment.epoch)
        return frame.finished
    }

    static func error(_ refusal: Refusal, peer name: [UInt8]? = nil, at moment: Moment) -> [UInt8] {
        var frame = FrameWriter(type: "error")
        frame.add("error", refusal.message)
        frame.add("code", refusal.name)
        if let name { frame.add("peerId", text: name) }
        frame.add("timestamp", number: moment.epoch)
        return frame.finished
    }
}

extension Device {
    fileprivate func add(to frame: inout FrameWriter) {
        switch kind {
        case .mobile: frame.add("deviceType", "mobile")
        case .desktop: frame.add("deviceType", "desktop")
        case .unknown: frame.add("deviceType", "unknown")
        }
        if !info.isEmpty { frame.add("deviceInfo", json: info) }
    }
}

/// The reason why a frame was refused: the `code` and the `error` of the answer.
enum Refusal: Int, CaseIterable {
    case badFrame, duplicateKey, tooDeep, unknownType, notRegistered, missingPeerID, badPeerID, missingTo, badTo,
        missingPayload, tooLarge, idTaken, rateLimited, tooManyAliases, proofRequired, unprovable, badNonce, badOrigin,
        badProof, notAllowed

    var name: StaticString {
        switch self {
        case .badFrame: "bad_frame"
        case .duplicateKey: "duplicate_key"
        case .tooDeep: "too_deep"
        case .unknownType: "unknown_type"
        case .notRegistered: "not_registered"
        case .missingPeerID: "missing_peer_id"
        case .badPeerID: "bad_peer_id"
        case .missingTo: "missing_to"
        case .badTo: "bad_to"
        case .missingPayload: "missing_payload"
        case .tooLarge: "frame_too_large"
        case .idTaken: "id_taken"
        case .rateLimited: "rate_limited"
        case .tooManyAliases: "too_many_aliases"
        case .proofRequired: "proof_required"
        case .unprovable: "unprovable"
        case .badNonce: "bad_nonce"
        case .badOrigin: "bad_origin"
        case .badProof: "bad_proof"
        case .notAllowed: "not_allowed"
        }
    }

    /// Goes into a JSON string as it stands: no quotes, no backslashes.
    var message: StaticString {
        switch self {
        case .badFrame: "the frame is not a complete JSON object"
        case .duplicateKey: "the frame has a duplicate top-level key"
        case .tooDeep: "the frame is nested too deeply"
        case .unknownType: "unknown message type"
        case .notRegistered: "register first"
        case .missingPeerID: "peerId is required"
        case .badPeerID: "peerId must be a string of 1 to 256 bytes"
        case .missingTo: "missing field: to"
        case .badTo: "to must be a string of 1 to 256 bytes"
        case .missingPayload: "missing field: payload"
        case .tooLarge: "the routed frame would exceed the maximum frame size"
        case .idTaken: "another live connection uses this peerId"
        case .rateLimited: "too many frames in one second; the rest are dropped"
        case .tooManyAliases: "too many pairing codes are already in use"
        case .proofRequired: "this peerId was proved before and requires a proof"
        case .unprovable: "only the did:key of an Ed25519 key can be proved, and over TLS only with the exporter value"
        case .badNonce: "the proof does not match a current challenge of this connection"
        case .badOrigin:
            """
            the proof is for a URL that is not among this relay's origins; its operator lists it with --origin, and a \
            proxy that ends TLS with --trusted-proxy
            """
        case .badProof: "the proof is not valid for this peerId on this connection"
        case .notAllowed: "this peerId is not in the relay's list of allowed ids; ask its operator"
        }
    }
}

/// The reason why the relay closes a connection: the code and the text of its close frame.
enum CloseCause: Equatable {
    /// The id has gone to a newer connection.
    case replaced
    /// It did not register in time.
    case notRegistered
    /// Too many connections have not registered.
    case full
    /// It keeps sending more frames than it may.
    case tooManyFrames
    /// Its token or its id is no longer accepted.
    case notAllowed
    case shutdown

    var code: UInt16 {
        switch self {
        case .replaced: 4_001
        case .notRegistered, .tooManyFrames, .notAllowed: 1_008
        case .full: 1_013
        case .shutdown: 1_001
        }
    }

    var reason: String {
        switch self {
        case .replaced: "replaced"
        case .notRegistered: "register_timeout"
        case .full: "too_many_unregistered"
        case .tooManyFrames: "too_many_frames"
        case .notAllowed: "not_allowed"
        case .shutdown: "server_shutdown"
        }
    }
}
