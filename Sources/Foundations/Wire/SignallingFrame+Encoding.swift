package import JSON

extension SignallingFrame {
    /// The frame as the one object that goes on the wire.
    package var json: JSONValue { .object(object) }

    private var object: JSONObject {
        switch self {
        case .register(let register):
            [
                "type": "register", "peerId": .string(register.peerID.text),
                "deviceType": (register.deviceType?.rawValue).map(JSONValue.string),
                "deviceInfo": register.deviceInfo.map(JSONValue.object),
                "bellwire": register.bellwire.map(JSONValue.integer),
                "proof": (register.proof?.object).map(JSONValue.object),
            ]
        case .challenge(let nonce, let isBound):
            ["type": "challenge", "nonce": .string(nonce), "exporter": isBound ? nil : false]
        case .registered(let registered):
            [
                "type": "registered", "peerId": (registered.peerID?.text).map(JSONValue.string),
                "serverTime": registered.serverTime.map(JSONValue.integer),
                "isReconnect": registered.isReconnect ? true : nil,
            ]
        case .message(let message): message.object
        case .peerOffline(let offline):
            [
                "type": "peer-offline", "peerId": .string(offline.peerID.text),
                "messageType": offline.messageType.map(JSONValue.string),
            ]
        case .offlineMessage(let stored):
            [
                "type": "offline-message", "originalMessage": .object(stored.original.object),
                "storedAt": stored.storedAt.map(JSONValue.integer),
                "deliveredAt": stored.deliveredAt.map(JSONValue.integer),
            ]
        case .peerStatus(let status):
            [
                "type": "peer-status", "peerId": .string(status.peerID.text),
                "status": status.isOnline ? "online" : "offline",
                "deviceInfo": status.deviceInfo.map(JSONValue.object),
            ]
        case .peersList(let peers):
            [
                "type": "peers-list",
                "peers": .array(
                    peers.sorted { $0.key.text < $1.key.text }.map { peer, info in
                        ["peerId": .string(peer.text), "deviceInfo": .object(info)]
                    }),
            ]
        case .routed(let routed): routed.members
        case .ping: ["type": "ping"]
        case .pong(let timestamp): ["type": "pong", "timestamp": timestamp.map(JSONValue.integer)]
        case .error(let refusal):
            ["type": "error", "error": .string(refusal.text), "code": refusal.code.map(JSONValue.string)]
        case .serverShutdown: ["type": "server-shutdown"]
        case .other(let type): ["type": .string(type)]
        }
    }
}

extension SignallingFrame.Proof {
    fileprivate var object: JSONObject {
        ["nonce": .string(nonce), "origin": .string(origin), "signature": .string(signature)]
    }
}

extension SignallingFrame.Message {
    fileprivate var object: JSONObject {
        [
            "type": "message", "to": (to?.text).map(JSONValue.string),
            "from": (from?.text).map(JSONValue.string), "sealed": isSealed ? true : nil, "payload": payload,
            "timestamp": timestamp.map(JSONValue.integer),
        ]
    }
}

extension SignallingFrame.Stored.Original {
    fileprivate var object: JSONObject {
        switch self {
        case .message(let message): message.object
        case .routed(let routed): routed.members
        }
    }
}
