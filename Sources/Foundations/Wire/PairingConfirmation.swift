package import JSON

/// A desktop's answer to a device's code or ack (WirePairing, "The desktop scans").
package struct PairingConfirmation: Sendable, Equatable {
    package static let type = "pairing:confirmation"

    package var code: PairingCode
    /// Often no address: a second key beside the relay-written `from`. `nil` where it is missing or unusable.
    package var pcPeerID: PeerID?
    package var deviceInfo: PairingDeviceInfo
    package var timestamp: EpochMilliseconds?
    /// Sealed ones prove that their sender has seen the code (WirePairingProofs, "The lines of a proof").
    package var mac: String?
    /// The desktop's random bytes, in base64url: of one of revision 1, to a device of revision 1.
    package var random: String?
    /// What the desktop offers (WireSessions, "Versions"); `nil` = it has no sessions. Counts if it has scanned
    /// the device's code; else its code or its step 2 has made the offer.
    package var versions: SealVersions?

    package init(
        code: PairingCode, pcPeerID: PeerID?, deviceInfo: PairingDeviceInfo, timestamp: EpochMilliseconds?,
        mac: String? = nil, random: String? = nil, versions: SealVersions? = nil
    ) {
        self.code = code
        self.pcPeerID = pcPeerID
        self.deviceInfo = deviceInfo
        self.timestamp = timestamp
        self.mac = mac
        self.random = random
        self.versions = versions
    }

    /// Reads a payload, or a frame of this type at top level. Only `type` and `pairingCode` are required.
    package init(decoding object: JSONObject) throws(PairingFailure) {
        let fields = PairingFields(object)
        try fields.require(type: Self.type)
        code = try fields.code("pairingCode")
        pcPeerID = try? fields.peer("pcPeerId")
        deviceInfo = (try? fields.deviceInfo()) ?? PairingDeviceInfo(name: "", platform: "")
        timestamp = object["timestamp"]?.integer
        mac = PairingMAC.read(object)
        random = PairingMAC.random(object)
        versions = try PairingMAC.versions(object)
    }

    package var json: JSONValue {
        [
            "type": .string(Self.type), "pairingCode": .string(code.digits),
            "pcPeerId": (pcPeerID?.text).map(JSONValue.string), "deviceInfo": deviceInfo.json,
            "timestamp": timestamp.map(JSONValue.integer),
            "bw": PairingMAC.json(mac, random: random, versions: versions),
        ]
    }
}

/// The other side declined (WirePairing, "The device scans").
package struct PairingReject: Sendable, Equatable {
    package static let type = "pairing:reject"

    package var code: PairingCode?
    /// The sender accepted, but could not store the pairing. `"reason":"store_failed"`; without it a person declined.
    package var isStoreFailure: Bool

    package init(code: PairingCode?, isStoreFailure: Bool = false) {
        self.code = code
        self.isStoreFailure = isStoreFailure
    }

    package init(decoding object: JSONObject) throws(PairingFailure) {
        let fields = PairingFields(object)
        try fields.require(type: Self.type)
        code = try? fields.code("pairingCode")
        isStoreFailure = object["reason"]?.string == PairingReason.storeFailed.rawValue
    }

    package var json: JSONValue {
        [
            "type": .string(Self.type), "pairingCode": (code?.digits).map(JSONValue.string),
            "reason": isStoreFailure ? .string(PairingReason.storeFailed.rawValue) : nil,
        ]
    }
}
