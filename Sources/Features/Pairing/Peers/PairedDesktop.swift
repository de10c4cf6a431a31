package import Identity
package import JSON
package import Wire

/// A desktop that this device is paired with (WirePairing, "After pairing").
package struct PairedDesktop: Sendable, Equatable {
    /// Where it is addressed: the `from` that its relay writes. If the device scanned, the same as ``pcPeerID``.
    package var address: PeerID
    /// What it calls itself: a second key, often no address.
    package var pcPeerID: PeerID
    package var name: String
    package var platform: String
    package var lanSignalingURL: String?
    package var relayURL: String?
    /// When we were last registered at ``lanSignalingURL``; `nil` = never.
    package var lanWorkedAt: EpochMilliseconds?
    /// When we were last registered at ``relayURL``; `nil` = never.
    package var relayWorkedAt: EpochMilliseconds?
    /// A JSON list, as text.
    package var iceServersJSON: String?
    /// Epoch *seconds*; `nil` = none.
    package var iceExpiry: Int64?
    package var pairedAt: EpochMilliseconds
    package var lastSeenAt: EpochMilliseconds
    /// Whether it was paired sealed (WireSealing, "After a sealed pairing").
    package var isSecure: Bool
    /// Whether anything has come from it since it was paired. Only a plain one may not have: it was not called absent,
    /// but may have refused the code, or not exist (WirePairing, "The device scans").
    package var isConfirmed: Bool
    /// What its user sees as well, where it was paired sealed.
    package var shortString: ShortAuthenticationString?

    /// Which desktop, for hosts and for the store.
    package var id: PeerID { address }

    package init(
        address: PeerID, pcPeerID: PeerID, name: String, platform: String, lanSignalingURL: String? = nil,
        relayURL: String? = nil, lanWorkedAt: EpochMilliseconds? = nil, relayWorkedAt: EpochMilliseconds? = nil,
        iceServersJSON: String? = nil, iceExpiry: Int64? = nil, pairedAt: EpochMilliseconds,
        lastSeenAt: EpochMilliseconds, isSecure: Bool = false, isConfirmed: Bool = true,
        shortString: ShortAuthenticationString? = nil
    ) {
        self.address = address
        self.pcPeerID = pcPeerID
        self.name = name
        self.platform = platform
        self.lanSignalingURL = lanSignalingURL
        self.relayURL = relayURL
        self.lanWorkedAt = lanWorkedAt
        self.relayWorkedAt = relayWorkedAt
        self.iceServersJSON = iceServersJSON
        self.iceExpiry = iceExpiry
        self.pairedAt = pairedAt
        self.lastSeenAt = lastSeenAt
        self.isSecure = isSecure
        self.isConfirmed = isConfirmed
        self.shortString = shortString
    }

    /// Whether its ICE credentials have expired. Then it must be paired again, or send new ones (WirePairing, "After
    /// pairing").
    package func iceIsExpired(at now: EpochMilliseconds) -> Bool {
        guard iceServersJSON != nil, let iceExpiry else { return false }
        return iceExpiry <= now / 1_000
    }

    /// As hosts see it at a moment: with `iceExpired` where what it gave to be reached directly is too old by now.
    package func json(at now: EpochMilliseconds) -> JSONObject {
        var object = json
        if iceIsExpired(at: now) { object["iceExpired"] = true }
        return object
    }

    /// As hosts see it; the ICE servers hold credentials and stay here.
    package var json: JSONObject {
        [
            "id": .string(address.text), "name": .string(name), "platform": .string(platform),
            "secure": .bool(isSecure), "pairedAt": .integer(pairedAt), "lastSeenAt": .integer(lastSeenAt),
            "signalingUrl": lanSignalingURL.map(JSONValue.string), "relayUrl": relayURL.map(JSONValue.string),
            "sas": shortString?.json, "sasMissing": isSecure && shortString == nil ? "older_peer" : nil,
            "unconfirmed": isConfirmed ? nil : true,
        ]
    }
}
