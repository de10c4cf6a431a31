import TestSupport
import Identity
import JSON
import Wire

@testable import Pairing

/// Who pairs in these tests, and what they show each other.
enum Fixture {
    static let now: EpochMilliseconds = 1_715_760_000_000
    static let lan = PairingRoute(.lan, url: "ws://192.168.1.5:9001")
    static let relay = PairingRoute(.relay, url: "wss://relay.example/ws")
    static let own = PairingRoute(.relay, url: "wss://own.example")

    /// The `did:key` of a key of our own making.
    static func did(_ seed: UInt8) -> PeerID {
        PeerID((try? SigningKey(seed: [UInt8](repeating: seed, count: 32)))?.did ?? "")
    }

    static let device = did(1)
    static let desktop = did(2)
    static let evil = did(3)

    static let deviceIdentity = PairingIdentity(
        did: device, deviceInfo: PairingDeviceInfo(deviceID: "i-1", name: "Phone", platform: "linux"))
    static let desktopIdentity = PairingIdentity(
        did: desktop, deviceInfo: PairingDeviceInfo(name: "PC", platform: "linux", version: "1"))

    static let secretText = TextEncoding.base64url.encode(Array(0..<16))
    static let secret = PairingSecret(base64url: secretText) ?? .random()
    static let deviceRandom = PairingRandom(base64url: TextEncoding.base64url.encode(Array(16..<32)))
    static let desktopRandom = PairingRandom(base64url: TextEncoding.base64url.encode(Array(32..<48))) ?? .random()
    static let otherSecret = PairingSecret.random()

    static func code(_ digits: String) -> PairingCode {
        var generator = SeededGenerator(seed: 0)
        return PairingCode(digits) ?? PairingCode(using: &generator)
    }

    /// A Bellwire desktop's code.
    static func desktopOffer(
        confirm: Bool = false, lan: Bool = false, relay: Bool = true, code digits: String = "012345",
        hasRevision: Bool = false, at time: EpochMilliseconds = now
    ) -> DesktopPairingOffer {
        DesktopPairingOffer(
            code: code(digits), pcPeerID: desktop, deviceInfo: desktopIdentity.deviceInfo, timestamp: time,
            signalingURL: lan ? Self.lan.url : nil, relayURL: relay ? Self.relay.url : nil,
            seal: PairingSeal(secret: secretText, confirm: confirm, hasRevision: hasRevision))
    }

    /// A device's code; with `sealed` a Bellwire device's.
    static func deviceOffer(
        sealed: Bool = true, did: PeerID = device, code digits: String = "012345", at time: EpochMilliseconds = now
    ) -> DevicePairingOffer {
        DevicePairingOffer(
            code: code(digits), did: did, deviceInfo: deviceIdentity.deviceInfo, timestamp: time,
            seal: sealed ? PairingSeal(secret: secretText) : nil)
    }

    static func bond(
        secret: PairingSecret = secret, device: PeerID = device, desktop: PeerID = desktop,
        code digits: String = "012345"
    ) -> PairingBond? {
        PairingBond(secret: secret, device: device, desktop: desktop, code: code(digits))
    }

    /// An ack with a proof.
    static func ack(
        secret: PairingSecret = secret, device: PeerID = device, desktop: PeerID = desktop, code: String = "012345",
        at time: EpochMilliseconds = now
    ) -> JSONObject {
        bond(secret: secret, device: device, desktop: desktop, code: code)?
            .ack(of: deviceIdentity.deviceInfo, at: time).json.object ?? [:]
    }

    /// A confirmation with a proof.
    static func confirmation(
        secret: PairingSecret = secret, device: PeerID = device, desktop: PeerID = desktop, code: String = "012345",
        at time: EpochMilliseconds = now
    ) -> JSONObject {
        bond(secret: secret, device: device, desktop: desktop, code: code)?
            .confirmation(of: desktopIdentity.deviceInfo, at: time).json.object ?? [:]
    }

    /// A deployed desktop's confirmation.
    static func plainConfirmation(code: String = "012345", pcPeerID: String? = "desktop-unknown") -> JSONObject {
        [
            "type": "pairing:confirmation", "pairingCode": .string(code), "pcPeerId": pcPeerID.map(JSONValue.string),
            "deviceInfo": ["name": " My\nPC ", "platform": "win32"], "timestamp": 1,
        ]
    }

    static func reject(_ code: String = "012345") -> JSONObject {
        ["type": "pairing:reject", "pairingCode": .string(code)]
    }

    static let hello = PairingHello(lastPushSeq: 0).json.object ?? [:]
    static let iceConfig: JSONObject = [
        "type": "chainlesschain:ice:config",
        "payload": ["pcPeerId": "12D3KooW", "iceServers": [["urls": "stun:a"]], "iceExpiry": 1_715_846_400],
    ]

    static func sealed(
        _ payload: JSONObject, from: PeerID, delivery: SignallingDelivery = .live, isStale: Bool = false
    ) -> PairingFrame {
        PairingFrame(payload, from: from, isSealed: true, isStale: isStale, delivery: delivery)
    }
}
