package import JSON

/// A device's answer to a desktop's code, scanned or typed (WirePairing, "The device scans").
package struct PairAck: Sendable, Equatable {
    package static let type = "pair-ack"

    package var code: PairingCode
    package var mobileDID: PeerID
    /// Validated as deployed desktops do: `deviceId` and `platform` match `^[\w:.#@-]{0,256}$`.
    package var deviceInfo: PairingDeviceInfo
    package var timestamp: EpochMilliseconds?
    /// Sealed ones prove that their sender has seen the code (WirePairingProofs, "The lines of a proof").
    package var mac: String?
    /// SHA-256 of the device's random bytes, in base64url: to a desktop of revision 1.
    package var commitment: String?
    /// The device's random bytes, in base64url: once the desktop has sent its own.
    package var random: String?
    /// What the device offers (WireSessions, "Versions"); `nil` = it has no sessions.
    package var versions: SealVersions?

    package init(
        code: PairingCode, mobileDID: PeerID, deviceInfo: PairingDeviceInfo, timestamp: EpochMilliseconds?,
        mac: String? = nil, commitment: String? = nil, random: String? = nil, versions: SealVersions? = nil
    ) {
        self.code = code
        self.mobileDID = mobileDID
        self.deviceInfo = deviceInfo
        self.timestamp = timestamp
        self.mac = mac
        self.commitment = commitment
        self.random = random
        self.versions = versions
    }

    /// Reads a payload. Required: `type`, `pairingCode`, `mobileDid`, and `deviceId`, `name`, `platform` of `deviceInfo`.
    package init(decoding object: JSONObject) throws(PairingFailure) {
        let fields = PairingFields(object)
        try fields.require(type: Self.type)
        code = try fields.code("pairingCode")
        mobileDID = try fields.peer("mobileDid")
        guard Self.isPlain(mobileDID.text) else { throw PairingFailure(.badField, detail: "mobileDid") }
        var info = try fields.deviceInfo()
        guard let deviceID = info.deviceID, Self.isPlain(deviceID) else {
            throw PairingFailure(.badField, detail: "deviceInfo.deviceId")
        }
        guard let platform = object["deviceInfo"]?["platform"]?.string, Self.isPlain(platform) else {
            throw PairingFailure(.badField, detail: "deviceInfo.platform")
        }
        info.platform = platform
        deviceInfo = info
        timestamp = object["timestamp"]?.integer
        mac = PairingMAC.read(object)
        commitment = PairingMAC.commitment(object)
        random = PairingMAC.random(object)
        versions = try PairingMAC.versions(object)
    }

    package var json: JSONValue {
        [
            "type": .string(Self.type), "pairingCode": .string(code.digits), "mobileDid": .string(mobileDID.text),
            "deviceInfo": deviceInfo.json, "timestamp": timestamp.map(JSONValue.integer),
            "bw": PairingMAC.json(mac, commitment: commitment, random: random, versions: versions),
        ]
    }

    /// `^[\w:.#@-]{0,256}$`, with the `\w` of JavaScript: ASCII letters, digits and the underscore.
    package static func isPlain(_ text: String) -> Bool {
        guard text.utf8.count <= 256 else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            case UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "."), UInt8(ascii: "#"), UInt8(ascii: "@"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
    }
}
