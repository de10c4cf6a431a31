package import JSON

/// The six digits of a code, leading zeros included (WirePairing, "Codes").
package struct PairingCode: Hashable, Sendable {
    package let digits: String

    /// `nil` unless the text is exactly six ASCII digits.
    package init?(_ digits: String) {
        let bytes = digits.utf8
        guard bytes.count == 6, bytes.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        self.digits = digits
    }

    /// A new code, each of the million equally likely.
    package init(using generator: inout some RandomNumberGenerator) {
        // The standard library draws again instead of folding the range, so no code is likelier than another.
        let number = Int.random(in: 0..<1_000_000, using: &generator)
        let text = String(number)
        digits = String(repeating: "0", count: 6 - text.utf8.count) + text
    }
}

/// Device information of the side that shows or scans, cleaned for display.
package struct PairingDeviceInfo: Sendable, Equatable {
    /// The phone's own id for itself; a desktop has none.
    package var deviceID: String?
    package var name: String
    package var platform: String
    package var version: String?

    package init(deviceID: String? = nil, name: String, platform: String, version: String? = nil) {
        self.deviceID = deviceID
        self.name = DisplayText.clean(name)
        self.platform = platform
        self.version = version
    }

    var json: JSONValue {
        [
            "deviceId": deviceID.map(JSONValue.string), "name": .string(name), "platform": .string(platform),
            "version": version.map(JSONValue.string),
        ]
    }

    /// The `deviceInfo` of any payload, beside its `type` or inside; `nil` if it has none with a name.
    package init?(namedIn payload: JSONValue) {
        guard let whole = try? EmbeddedObject.read(payload, in: .payload, field: nil).object else { return nil }
        let inner = try? EmbeddedObject.read(whole["payload"], in: .payload, field: "payload").object
        let candidates = [whole, inner].compactMap(\.self)
        guard let info = candidates.lazy.compactMap({ try? PairingFields($0).deviceInfo() }).first, !info.name.isEmpty
        else { return nil }
        self = info
    }
}

/// The limits of what a pairing payload may say. What is longer is no honest peer's.
enum PairingLimits {
    static let peerIDBytes = 256
    static let urlBytes = 2_048
    static let iceServersBytes = 65_536
    static let payloadBytes = 1_048_576
}

extension PeerID {
    /// Does it print as one word, of 1 to 256 bytes? No separators, controls or direction marks, wherever it will be shown.
    package var isShowable: Bool {
        !text.isEmpty && text.utf8.count <= PairingLimits.peerIDBytes && DisplayText.clean(text, limit: 256) == text
            && !text.contains(" ")
    }
}

/// Reads the fields of one pairing payload, naming the first that fails.
struct PairingFields {
    let object: JSONObject

    /// The text of a QR, or a payload that came as one.
    init(parsing text: String) throws(PairingFailure) {
        guard text.utf8.count <= PairingLimits.payloadBytes else {
            throw PairingFailure(.notJSON, detail: "longer than 1 MiB")
        }
        let value: JSONValue
        do { value = try JSONValue(parsing: text) } catch { throw PairingFailure(.notJSON, detail: error.message) }
        guard let object = value.object else {
            throw PairingFailure(.notJSON, detail: "\(value.typeName) instead of an object")
        }
        self.object = object
    }

    init(_ object: JSONObject) { self.object = object }

    func require(type: String) throws(PairingFailure) {
        guard object["type"]?.string == type else { throw PairingFailure(.wrongType) }
    }

    func code(_ key: String) throws(PairingFailure) -> PairingCode {
        guard let code = (object[key]?.string).flatMap(PairingCode.init) else {
            throw PairingFailure(.badCode)
        }
        return code
    }

    /// An id that a relay can address.
    func peer(_ key: String) throws(PairingFailure) -> PeerID {
        guard let text = object[key]?.string, !text.isEmpty else {
            throw PairingFailure(.missingPeerID, detail: key)
        }
        guard PeerID(text).isShowable else { throw PairingFailure(.badField, detail: key) }
        return PeerID(text)
    }

    func timestamp() throws(PairingFailure) -> EpochMilliseconds {
        guard let timestamp = object["timestamp"]?.integer else {
            throw PairingFailure(.badField, detail: "timestamp")
        }
        return timestamp
    }

    /// `name` and `platform` are required, a `version` or `deviceId` is optional.
    func deviceInfo() throws(PairingFailure) -> PairingDeviceInfo {
        guard let info = object["deviceInfo"]?.object else { throw PairingFailure(.badField, detail: "deviceInfo") }
        guard let name = info["name"]?.string else { throw PairingFailure(.badField, detail: "deviceInfo.name") }
        guard let platform = info["platform"]?.string else {
            throw PairingFailure(.badField, detail: "deviceInfo.platform")
        }
        return PairingDeviceInfo(
            // What no desktop would take in an ack is no id.
            deviceID: (info["deviceId"]?.string).flatMap { PairAck.isPlain($0) ? $0 : nil }, name: name,
            platform: DisplayText.clean(platform),
            version: (info["version"]?.string).map { DisplayText.clean($0) })
    }

    /// An optional WebSocket address; an invalid one counts as absent.
    func url(_ key: String) -> String? {
        guard let text = object[key]?.string, text.utf8.count <= PairingLimits.urlBytes,
            text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value < 0x7f })
        else { return nil }
        let start = text.prefix(6).lowercased()
        return start.hasPrefix("ws://") || start == "wss://" ? text : nil
    }

    /// Optional, kept as JSON text (WirePairing, "After pairing"). Counts as absent if it is no list, or unreasonably
    /// long.
    func iceServersJSON() -> String? {
        guard let servers = object["iceServers"], servers.array != nil else { return nil }
        let text = servers.serialized()
        return text.utf8.count <= PairingLimits.iceServersBytes ? text : nil
    }

    /// Epoch *seconds*; 0 and invalid times mean "none".
    func iceExpiry() -> Int64? {
        guard let seconds = object["iceExpiry"]?.integer, seconds > 0 else { return nil }
        return seconds
    }
}
