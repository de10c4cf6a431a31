import JSON

/// The QR code that a desktop shows for a device to scan (WirePairing, "The device scans").
package struct DesktopPairingOffer: Sendable, Equatable {
    package static let type = "desktop-pairing"
    /// How long an offer can be taken, in milliseconds.
    package static let lifetime: EpochMilliseconds = 300_000

    package var code: PairingCode
    package var pcPeerID: PeerID
    package var deviceInfo: PairingDeviceInfo
    package var timestamp: EpochMilliseconds
    /// The desktop's relay on the local network.
    package var signalingURL: String?
    package var relayURL: String?
    /// A JSON list, as text.
    package var iceServersJSON: String?
    /// Epoch *seconds*; `nil` = none.
    package var iceExpiry: Int64?
    /// What makes it a Bellwire desktop's.
    package var seal: PairingSeal?

    package init(
        code: PairingCode, pcPeerID: PeerID, deviceInfo: PairingDeviceInfo, timestamp: EpochMilliseconds,
        signalingURL: String? = nil, relayURL: String? = nil, iceServersJSON: String? = nil, iceExpiry: Int64? = nil,
        seal: PairingSeal? = nil
    ) {
        self.code = code
        self.pcPeerID = pcPeerID
        self.deviceInfo = deviceInfo
        self.timestamp = timestamp
        self.signalingURL = signalingURL
        self.relayURL = relayURL
        self.iceServersJSON = iceServersJSON
        self.iceExpiry = iceExpiry
        self.seal = seal
    }

    /// Reads a scanned text. The checks come in the order of WirePairing, "The device scans"; the first that fails is
    /// thrown.
    ///
    /// Required: `type`, `code`, `pcPeerId`, `timestamp`, `name` and `platform` of `deviceInfo`, and if there is a
    /// `bw`, its `v` and `secret`. Anything else is optional and counts as absent if its type is wrong.
    package init(parsing text: String, now: EpochMilliseconds) throws(PairingFailure) {
        let fields = try PairingFields(parsing: text)
        try fields.require(type: Self.type)
        code = try fields.code("code")
        pcPeerID = try fields.peer("pcPeerId")
        timestamp = try fields.timestamp()
        deviceInfo = try fields.deviceInfo()
        signalingURL = fields.url("signalingUrl")
        relayURL = fields.url("relayUrl")
        iceServersJSON = fields.iceServersJSON()
        iceExpiry = fields.iceExpiry()
        seal = try fields.seal()
        guard !isExpired(at: now) else { throw PairingFailure(.expired) }
    }

    /// Is the offer older than five minutes? One from a clock that runs ahead is not.
    package func isExpired(at now: EpochMilliseconds) -> Bool {
        let (age, overflow) = now.subtractingReportingOverflow(timestamp)
        return overflow ? now > timestamp : age > Self.lifetime
    }

    /// The text to show as a QR.
    package func serialized() -> String {
        let iceServers = iceServersJSON.flatMap { try? JSONValue(parsing: $0) }
        let json: JSONValue = [
            "type": .string(Self.type), "code": .string(code.digits), "pcPeerId": .string(pcPeerID.text),
            "deviceInfo": deviceInfo.json, "timestamp": .integer(timestamp),
            "signalingUrl": signalingURL.map(JSONValue.string) ?? .null,
            "relayUrl": relayURL.map(JSONValue.string), "iceServers": iceServers,
            "iceExpiry": iceExpiry.map(JSONValue.integer), "bw": seal?.json,
        ]
        return json.serialized()
    }
}
