import JSON

/// The QR code that a device shows for a desktop to scan (WirePairing, "The desktop scans").
package struct DevicePairingOffer: Sendable, Equatable {
    package static let type = "device-pairing"
    /// How long an offer can be taken, in milliseconds.
    package static let lifetime = DesktopPairingOffer.lifetime

    package var code: PairingCode
    package var did: PeerID
    package var deviceInfo: PairingDeviceInfo
    package var timestamp: EpochMilliseconds
    /// What makes it a Bellwire device's.
    package var seal: PairingSeal?

    package init(
        code: PairingCode, did: PeerID, deviceInfo: PairingDeviceInfo, timestamp: EpochMilliseconds,
        seal: PairingSeal? = nil
    ) {
        self.code = code
        self.did = did
        self.deviceInfo = deviceInfo
        self.timestamp = timestamp
        self.seal = seal
    }

    /// Reads a scanned text; all but `deviceId` and `bw` is required. Throws the first check that fails.
    package init(parsing text: String, now: EpochMilliseconds) throws(PairingFailure) {
        let fields = try PairingFields(parsing: text)
        try fields.require(type: Self.type)
        code = try fields.code("code")
        did = try fields.peer("did")
        timestamp = try fields.timestamp()
        deviceInfo = try fields.deviceInfo()
        seal = try fields.deviceSeal()
        guard !isExpired(at: now) else { throw PairingFailure(.expired) }
    }

    /// Is the offer older than five minutes? One from a clock that runs ahead is not.
    package func isExpired(at now: EpochMilliseconds) -> Bool {
        let (age, overflow) = now.subtractingReportingOverflow(timestamp)
        return overflow ? now > timestamp : age > Self.lifetime
    }

    /// The text to show as a QR.
    package func serialized() -> String {
        let json: JSONValue = [
            "type": .string(Self.type), "code": .string(code.digits), "did": .string(did.text),
            "deviceInfo": deviceInfo.json, "timestamp": .integer(timestamp), "bw": seal?.json,
        ]
        return json.serialized()
    }
}
