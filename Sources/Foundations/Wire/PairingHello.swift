package import JSON

/// What a device sends a desktop that it is paired with, sealed: first as the answer to a confirmation (WirePairing,
/// "The desktop scans"), then after each register, which starts the resend (WireSealing, "Delivery of pushes").
package struct PairingHello: Sendable, Equatable {
    package static let type = "bellwire:hello"
    package static let version: Int64 = 1

    /// That the device has the desktop's confirmation, and has seen the code (WirePairingProofs, "The lines of a proof").
    package struct Proof: Sendable, Equatable {
        package let timestamp: EpochMilliseconds
        package let mac: String
        /// The bytes to which its code committed, in base64url.
        package let random: String

        package init(timestamp: EpochMilliseconds, mac: String, random: String) {
            self.timestamp = timestamp
            self.mac = mac
            self.random = random
        }
    }

    /// The last push that the device has stored; 0 = none.
    package var lastPushSeq: Int64
    /// The epoch in which the desktop sealed that push; 0 = the device doesn't know it, because the push came before its
    /// present start; `nil` = the device doesn't send epochs.
    package var epoch: Int64?
    /// In the answer to a confirmation, between peers of revision 1.
    package var proof: Proof?
    /// The versions of the seal that the device offers (WireSessions, "Versions"); `nil` = the member is left out.
    package var sealVersions: SealVersions?

    package init(
        lastPushSeq: Int64, epoch: Int64? = nil, proof: Proof? = nil, sealVersions: SealVersions? = nil
    ) {
        self.lastPushSeq = lastPushSeq
        self.sealVersions = sealVersions
        self.epoch = epoch
        self.proof = proof
    }

    /// Reads the inner payload, as ``Payload/bellwire(type:_:)`` has it. Only `v` is required.
    package init(payload: JSONObject) throws(PairingFailure) {
        guard case .integer(Self.version)? = payload["v"] else { throw PairingFailure(.badField, detail: "v") }
        lastPushSeq = max(0, payload["lastPushSeq"]?.integer ?? 0)
        if let epoch = payload["epoch"]?.integer, epoch >= 0 { self.epoch = epoch }
        guard let timestamp = payload["timestamp"]?.integer, let mac = PairingMAC.read(payload),
            let random = PairingMAC.random(payload)
        else { return }
        proof = Proof(timestamp: timestamp, mac: mac, random: random)
    }

    /// The whole payload of a `message`.
    package var json: JSONValue {
        [
            "type": .string(Self.type),
            "payload": [
                "v": .integer(Self.version), "lastPushSeq": .integer(lastPushSeq),
                "epoch": epoch.map(JSONValue.integer), "timestamp": (proof?.timestamp).map(JSONValue.integer),
                "bw": PairingMAC.json(proof?.mac, random: proof?.random),
                "seal": sealVersions?.json,
            ],
        ]
    }
}
