package import JSON

/// One step of CPace between a device and a desktop's alias (WirePairing, "Agreeing on a key").
///
/// Binary fields stay the base64url that they came as; they have the right length.
package struct PairingExchange: Sendable, Equatable {
    package static let type = "bellwire:pake"
    package static let version: Int64 = 1

    package enum Step: Sendable, Equatable {
        /// Step 1, the device's: who it is and its share.
        case deviceShare(did: PeerID, share: String)
        /// Step 2, the desktop's.
        case desktopShare(did: PeerID, share: String)
        /// Step 3, the device's: that it has come to the same key.
        case deviceConfirm(String)
        /// Step 4, the desktop's, only after step 3 has held.
        case desktopConfirm(String)
    }

    /// Which run: 16 bytes that the device has drawn.
    package var sid: String
    package var step: Step
    /// In steps 1 and 2: what the sender offers (WireSessions, "Versions"); `nil` = it has no sessions.
    /// Nothing proves it before the ack.
    package var versions: SealVersions?

    package init(sid: String, step: Step, versions: SealVersions? = nil) {
        self.sid = sid
        self.step = step
        self.versions = versions
    }

    /// Reads the inner payload, as ``Payload/bellwire(type:_:)`` has it. Every field of its step is required.
    package init(payload: JSONObject) throws(PairingFailure) {
        guard case .integer(Self.version)? = payload["v"] else { throw PairingFailure(.badField, detail: "v") }
        sid = try Self.bytes("sid", 16, of: payload)
        guard case .integer(let number)? = payload["step"] else { throw PairingFailure(.badField, detail: "step") }
        switch number {
        case 1:
            let did = try PairingFields(payload).peer("did")
            step = .deviceShare(did: did, share: try Self.bytes("share", 32, of: payload))
            versions = try PairingFields(payload).sealVersions(payload["seal"], "seal")
        case 2:
            let did = try PairingFields(payload).peer("did")
            step = .desktopShare(did: did, share: try Self.bytes("share", 32, of: payload))
            versions = try PairingFields(payload).sealVersions(payload["seal"], "seal")
        case 3: step = .deviceConfirm(try Self.bytes("confirm", 32, of: payload))
        case 4: step = .desktopConfirm(try Self.bytes("confirm", 32, of: payload))
        default: throw PairingFailure(.badField, detail: "step")
        }
    }

    /// The whole payload of a `message`.
    package var json: JSONValue {
        var payload: JSONObject = ["v": .integer(Self.version)]
        switch step {
        case .deviceShare(let did, let share):
            payload.merge(["step": 1, "sid": .string(sid), "did": .string(did.text), "share": .string(share)])
        case .desktopShare(let did, let share):
            payload.merge(["step": 2, "sid": .string(sid), "did": .string(did.text), "share": .string(share)])
        case .deviceConfirm(let confirm):
            payload.merge(["step": 3, "sid": .string(sid), "confirm": .string(confirm)])
        case .desktopConfirm(let confirm):
            payload.merge(["step": 4, "sid": .string(sid), "confirm": .string(confirm)])
        }
        if let versions { payload["seal"] = versions.json }
        return ["type": .string(Self.type), "payload": .object(payload)]
    }

    private static func bytes(
        _ key: String, _ count: Int, of payload: JSONObject
    ) throws(PairingFailure) -> String {
        guard let text = payload[key]?.string, Base64URLText.holds(text, bytes: count) else {
            throw PairingFailure(.badField, detail: key)
        }
        return text
    }
}
