package import Identity
package import JSON
package import Wire

/// A device that this desktop is paired with.
package struct PairedDevice: Sendable, Equatable {
    /// Where it is addressed, and who it is.
    package var did: PeerID
    /// The phone's own id for itself.
    package var deviceID: String
    package var name: String
    package var platform: String
    package var pairedAt: EpochMilliseconds
    package var lastSeenAt: EpochMilliseconds
    /// Whether it was paired sealed (WireSealing, "After a sealed pairing").
    package var isSecure: Bool
    /// What its user sees as well, where it was paired sealed.
    package var shortString: ShortAuthenticationString?
    /// The form of its last payload: the device gets the same form (WireDeployedPeers, "What a desktop sends").
    package var payloadForm: PayloadForm

    package var id: PeerID { did }

    package init(
        did: PeerID, deviceID: String, name: String, platform: String, pairedAt: EpochMilliseconds,
        lastSeenAt: EpochMilliseconds, isSecure: Bool = false, payloadForm: PayloadForm = .object,
        shortString: ShortAuthenticationString? = nil
    ) {
        self.did = did
        self.deviceID = deviceID
        self.name = name
        self.platform = platform
        self.pairedAt = pairedAt
        self.lastSeenAt = lastSeenAt
        self.isSecure = isSecure
        self.payloadForm = payloadForm
        self.shortString = shortString
    }

    package var json: JSONObject {
        [
            "id": .string(did.text), "deviceId": .string(deviceID), "name": .string(name),
            "platform": .string(platform), "secure": .bool(isSecure), "pairedAt": .integer(pairedAt),
            "lastSeenAt": .integer(lastSeenAt), "sas": shortString?.json,
            "sasMissing": isSecure && shortString == nil ? "older_peer" : nil,
        ]
    }
}
