package import JSON

/// A desktop's current ICE servers, sent after pairing and now and then (WirePairing, "After pairing").
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

    /// Reads the inner payload, as ``Payload/iceConfig(_:)`` has it. Only `iceServers` is required.
    package init(payload: JSONObject) throws(PairingFailure) {
        let fields = PairingFields(payload)
        guard let servers = fields.iceServersJSON() else { throw PairingFailure(.badField, detail: "iceServers") }
        iceServersJSON = servers
        pcPeerID = try? fields.peer("pcPeerId")
        iceExpiry = fields.iceExpiry()
        timestamp = payload["timestamp"]?.integer
    }

    /// The whole payload of a `message`.
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
