package import JSON

/// A desktop's current ICE servers, sent after pairing and now and then (protocol.md 2).
package struct ICEConfig: Sendable, Equatable {
    package static let type = "chainlesschain:ice:config"

    package var pcPeerID: PeerID?
    /// A JSON list, as text.
    package var iceServersJSON: String
    /// Epoch *seconds*; `nil` = none.
    package var iceExpiry: Int64?
    package var timestamp: EpochMilliseconds?

    package init(
        pcPeerID: PeerID?, iceServersJSON: String, iceExpiry: Int64? = nil, timestamp: EpochMilliseconds? = nil
    ) {
        self.pcPeerID = pcPeerID
        self.iceServersJSON = iceServersJSON
        self.iceExpiry = iceExpiry
        self.timestamp = timestamp
    }

    /// Reads the whole object, `type` and `payload`. The payload may be a text (protocol.md 3); only `iceServers` is required.
    package init(decoding object: JSONObject) throws(PairingFailure) {
        try PairingFields(object).require(type: Self.type)
        let inner: JSONObject?
        switch object["payload"] {
        case .object(let payload): inner = payload
        case .string(let text): inner = (try? JSONValue(parsing: text))?.object
        case .null, .bool, .integer, .double, .array, nil: inner = nil
        }
        guard let inner else { throw PairingFailure(.badField, detail: "payload") }
        let fields = PairingFields(inner)
        guard let servers = fields.iceServersJSON() else { throw PairingFailure(.badField, detail: "iceServers") }
        iceServersJSON = servers
        pcPeerID = try? fields.peer("pcPeerId")
        iceExpiry = fields.iceExpiry()
        timestamp = inner["timestamp"]?.integer
    }

    package var json: JSONValue {
        [
            "type": .string(Self.type),
            "payload": [
                "pcPeerId": (pcPeerID?.text).map(JSONValue.string),
                "iceServers": (try? JSONValue(parsing: iceServersJSON)) ?? [],
                "iceExpiry": .integer(iceExpiry ?? 0), "timestamp": timestamp.map(JSONValue.integer),
            ],
        ]
    }
}
