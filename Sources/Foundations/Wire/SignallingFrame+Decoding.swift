package import JSON

extension SignallingFrame {
    /// The most that is kept of a relay's own error text, in characters.
    private static let errorTextLimit = 200
    /// So many entries of a `peers-list` are read.
    private static let listedPeers = 1_024

    /// Reads one text frame.
    package init(parsing text: UnsafeRawBufferPointer) throws(SignallingFrameError) {
        let value: JSONValue
        do { value = try JSONValue(parsing: text) } catch {
            throw SignallingFrameError(.notJSON, "the frame is not JSON: \(error.message)")
        }
        try self.init(decoding: value)
    }

    /// Reads a frame that is JSON already.
    package init(decoding value: JSONValue) throws(SignallingFrameError) {
        guard let object = value.object, let type = object["type"]?.string else {
            throw SignallingFrameError(.noType, "the frame is not an object with a \"type\"")
        }
        try self.init(decoding: object, type: type)
    }

    private init(decoding object: JSONObject, type: String) throws(SignallingFrameError) {
        switch type {
        case "register":
            let peerID = try object.requiredPeer("peerId", of: type)
            let deviceType = (object["deviceType"]?.string).flatMap(DeviceType.init(rawValue:))
            let deviceInfo = object["deviceInfo"]?.object
            self = .register(
                Register(
                    peerID: peerID, deviceType: deviceType, deviceInfo: deviceInfo,
                    bellwire: object["bellwire"]?.integer, proof: object["proof"].flatMap(Proof.init(decoding:))))
        case "challenge":
            guard let nonce = object["nonce"]?.string else { throw SignallingFrameError(missing: "nonce", of: type) }
            self = .challenge(nonce: nonce, isBound: object["exporter"]?.bool ?? true)
        case "registered":
            self = .registered(
                Registered(
                    peerID: object.peer("peerId"), serverTime: object["serverTime"]?.integer,
                    isReconnect: object["isReconnect"]?.bool ?? false))
        case "message":
            self = .message(try Message(decoding: object))
        case "peer-offline":
            let peerID = try object.requiredPeer("peerId", of: type)
            self = .peerOffline(PeerOffline(peerID: peerID, messageType: object["messageType"]?.string))
        case "offline-message":
            self = .offlineMessage(try Stored(decoding: object))
        case "peer-status":
            let peerID = try object.requiredPeer("peerId", of: type)
            guard let status = object["status"]?.string else {
                throw SignallingFrameError(missing: "status", of: type)
            }
            self = .peerStatus(
                PeerStatus(
                    peerID: peerID, isOnline: status == "online", deviceInfo: object["deviceInfo"]?.object))
        case "peers-list":
            var peers: [PeerID: JSONObject] = [:]
            for entry in (object["peers"]?.array ?? []).prefix(Self.listedPeers) {
                guard let peer = entry.object?.peer("peerId"), let info = entry["deviceInfo"]?.object else { continue }
                peers[peer] = info
            }
            self = .peersList(peers)
        case "ping": self = .ping
        case "pong": self = .pong(timestamp: object["timestamp"]?.integer)
        case "error":
            // Deployed relays write a text; one that writes an object has its text in `message`.
            let text = object["error"]?.string ?? object["error"]?["message"]?.string ?? object["message"]?.string
            let code = (object["code"]?.string).map { DisplayText.clean($0, limit: 64) }
            self = .error(Refusal(DisplayText.clean(text ?? "", limit: Self.errorTextLimit), code: code))
        case "server-shutdown": self = .serverShutdown
        default:
            guard let kind = Routed.Kind(rawValue: type) else {
                self = .other(type: DisplayText.clean(type, limit: 64))
                return
            }
            self = .routed(Routed(kind: kind, decoding: object))
        }
    }
}

extension SignallingFrame.Message {
    fileprivate init(decoding object: JSONObject) throws(SignallingFrameError) {
        guard let payload = object["payload"] else { throw SignallingFrameError(missing: "payload", of: "message") }
        self.init(
            to: object.peer("to"), from: object.peer("from"), payload: payload,
            timestamp: object["timestamp"]?.integer, isSealed: object["sealed"]?.bool ?? false)
    }
}

extension SignallingFrame.Proof {
    fileprivate init?(decoding value: JSONValue) {
        guard let nonce = value["nonce"]?.string, let origin = value["origin"]?.string,
            let signature = value["signature"]?.string
        else { return nil }
        self.init(nonce: nonce, origin: origin, signature: signature)
    }
}

extension SignallingFrame.Routed {
    fileprivate init(kind: Kind, decoding object: JSONObject) {
        self.init(kind: kind, to: object.peer("to"), from: object.peer("from"), members: object)
    }
}

extension SignallingFrame.Stored {
    /// The frame inside may be an object or a text that holds one; it is unwrapped once, never a wrapped one in it.
    fileprivate init(decoding object: JSONObject) throws(SignallingFrameError) {
        let original: JSONObject?
        switch object["originalMessage"] {
        case .object(let inner): original = inner
        case .string(let text): original = (try? JSONValue(parsing: text))?.object
        case .null, .bool, .integer, .double, .array, nil: original = nil
        }
        guard let original, let type = original["type"]?.string else {
            throw SignallingFrameError(missing: "originalMessage", of: "offline-message")
        }
        let frame: Original
        if type == "message" {
            frame = .message(try SignallingFrame.Message(decoding: original))
        } else if let kind = SignallingFrame.Routed.Kind(rawValue: type) {
            frame = .routed(SignallingFrame.Routed(kind: kind, decoding: original))
        } else {
            throw SignallingFrameError(missing: "originalMessage", of: "offline-message")
        }
        self.init(
            original: frame, storedAt: object["storedAt"]?.integer, deliveredAt: object["deliveredAt"]?.integer)
    }
}

extension SignallingFrameError {
    fileprivate init(missing field: String, of type: String) {
        self.init(.missingField, "a \"\(type)\" frame came without a usable \"\(field)\"")
    }
}

extension JSONObject {
    /// An id that can be addressed: a text that is not empty.
    fileprivate func peer(_ key: String) -> PeerID? {
        guard let text = self[key]?.string, !text.isEmpty else { return nil }
        return PeerID(text)
    }

    fileprivate func requiredPeer(_ key: String, of type: String) throws(SignallingFrameError) -> PeerID {
        guard let peer = peer(key) else { throw SignallingFrameError(missing: key, of: type) }
        return peer
    }
}
