package import JSON

/// A desktop's answer to an ack with a commitment: its own random bytes (WirePairing, "The device scans").
///
/// It says nothing about whether the desktop pairs; the device reveals its bytes in its next ack.
package struct PairingChallenge: Sendable, Equatable {
    package static let type = "bellwire:challenge"
    package static let version: Int64 = 1

    package let code: PairingCode
    package let timestamp: EpochMilliseconds
    /// It proves that the desktop has this commitment (WirePairingProofs, "The lines of a proof").
    package let mac: String
    /// The desktop's random bytes, in base64url.
    package let random: String

    package init(code: PairingCode, timestamp: EpochMilliseconds, mac: String, random: String) {
        self.code = code
        self.timestamp = timestamp
        self.mac = mac
        self.random = random
    }

    /// Reads the inner payload, as ``Payload/bellwire(type:_:)`` has it. Every field is required.
    package init(payload: JSONObject) throws(PairingFailure) {
        guard case .integer(Self.version)? = payload["v"] else { throw PairingFailure(.badField, detail: "v") }
        code = try PairingFields(payload).code("pairingCode")
        guard let timestamp = payload["timestamp"]?.integer else {
            throw PairingFailure(.badField, detail: "timestamp")
        }
        guard let mac = PairingMAC.read(payload), let random = PairingMAC.random(payload) else {
            throw PairingFailure(.badField, detail: "bw")
        }
        (self.timestamp, self.mac, self.random) = (timestamp, mac, random)
    }

    /// The whole payload of a `message`.
    package var json: JSONValue {
        [
            "type": .string(Self.type),
            "payload": [
                "v": .integer(Self.version), "pairingCode": .string(code.digits), "timestamp": .integer(timestamp),
                "bw": PairingMAC.json(mac, random: random),
            ],
        ]
    }
}
