import Identity
import JSON
import Wire

@testable import Pairing

/// Who pairs, with keys that never change.
struct PairingPeers: Sendable {
    let device, desktop, hostile: PeerID
    let secret, other: PairingSecret

    static let shared = Result {
        let keys = try FuzzKeys.shared.get().keys.map { PeerID($0.did) }
        guard let secret = PairingSecret(base64url: PairingPeers.secretText),
            let other = PairingSecret(base64url: TextEncoding.base64url.encode(Array(16..<32)))
        else { throw FuzzFinding("a secret of 16 bytes is refused") }
        return PairingPeers(device: keys[0], desktop: keys[1], hostile: keys[2], secret: secret, other: other)
    }

    static let secretText = TextEncoding.base64url.encode(Array(0..<16))
    static let info = PairingDeviceInfo(deviceID: "i-1", name: "Peer", platform: "linux")
}

/// What surrounds a machine: the clock, its timer, the store, and what the hostile peer makes up.
struct PairingWorld {
    static let begin: EpochMilliseconds = 1_715_760_000_000

    var input: FuzzInput
    let peers: PairingPeers
    /// What is wrong with the machine; only in the test that each check can fail.
    let fault: PairingFault?
    var now = begin
    var generator = FuzzGenerator(7)
    private(set) var timer: UInt64?
    private(set) var isStoring = false
    var isAsleep = false
    /// Six digits that the hostile peer names: those that are shown, and others.
    var codes = ["012345", "999999"]
    /// The user has accepted the peer in question.
    var isAccepted = false

    init(_ input: FuzzInput, peers: PairingPeers, fault: PairingFault? = nil) {
        (self.input, self.peers, self.fault) = (input, peers, fault)
    }

    // MARK: What holds of every flow

    func require(_ condition: Bool, _ check: PairingCheck) throws {
        if !condition, fault?.past.contains(check) != true { throw FuzzFinding(check.rawValue) }
    }

    mutating func start(_ wait: UInt64) throws {
        let wait = fault?.kind == .noTime ? 0 : wait
        try require(wait > 0 && wait <= 300_000, .timerLength)
        if fault?.kind != .noTimer { timer = wait }
    }

    mutating func stop() { if fault?.kind != .timerKept { timer = nil } }

    mutating func fired() -> Bool {
        guard fault?.kind != .endless, let wait = timer else { return false }
        timer = nil
        now += Int64(wait)
        return true
    }

    /// A peer goes to the store. None of those here knows the secret.
    mutating func store(isSecure: Bool, mayBePlain: Bool) throws {
        try require(!isSecure, .pairedAsEncrypted)
        try require(isSecure || mayBePlain && fault?.kind != .unasked, .pairedUnasked)
        isStoring = true
    }

    mutating func stored() -> Bool {
        defer { isStoring = false }
        return isStoring
    }

    mutating func forgetStore() { isStoring = false }

    func rest(_ isActive: Bool) throws {
        if isActive, !isStoring, !isAsleep { try require(timer != nil, .stepWithoutLimit) }
        if !isActive { try require(timer == nil, .timerKept) }
    }

    // MARK: What the hostile peer makes up

    /// What it knows in place of the secret, unless nobody checks.
    private var secret: PairingSecret { fault?.kind == .proofs ? peers.secret : peers.other }

    mutating func code() -> PairingCode {
        PairingCode(input.element(codes)) ?? PairingCode(using: &generator)
    }

    mutating func random() -> PairingRandom? {
        PairingRandom(base64url: TextEncoding.base64url.encode(Array(repeating: input.byte(), count: 16)))
    }

    mutating func legacy() -> LegacyPairing { input.element(LegacyPairing.allCases) }

    /// Frames with proofs that its own secret gives, for whatever ids and code it likes; and frames without.
    mutating func payload() -> JSONObject {
        let device = input.element([peers.device, peers.hostile, peers.desktop])
        let desktop = input.element([peers.desktop, peers.hostile, peers.device])
        let bond = PairingBond(secret: secret, device: device, desktop: desktop, code: code())
        var payload: JSONObject =
            switch input.choice(9) {
            case 0, 1: bond?.ack(of: PairingPeers.info, at: now).json.object ?? [:]
            case 2, 3: bond?.confirmation(of: PairingPeers.info, at: now).json.object ?? [:]
            case 4: PairingReject(code: code(), isStoreFailure: input.flag()).json.object ?? [:]
            case 5: PairingHello(lastPushSeq: 0).json.object ?? [:]
            case 6:
                [
                    "type": "pairing:confirmation", "pairingCode": .string(code().digits), "pcPeerId": "desktop-1",
                    "deviceInfo": ["name": "PC", "platform": "win32"], "timestamp": .integer(now),
                ]
            case 7: exchange()
            default:
                ["type": "chainlesschain:ice:config", "payload": ["pcPeerId": "d", "iceServers": [], "iceExpiry": 1]]
            }
        for _ in 0..<input.choice(3) { change(&payload) }
        return payload
    }

    /// A step of CPace by somebody who does not know the digits.
    mutating func exchange() -> JSONObject {
        let share = TextEncoding.base64url.encode(input.element([Array(0..<32), Array(repeating: 0, count: 32)]))
        let sid = TextEncoding.base64url.encode(Array(repeating: input.byte(), count: 16))
        let id = input.element([peers.hostile, peers.device, peers.desktop])
        let step: PairingExchange.Step =
            switch input.choice(4) {
            case 0: .deviceShare(did: id, share: share)
            case 1: .desktopShare(did: id, share: share)
            case 2: .deviceConfirm(share)
            default: .desktopConfirm(share)
            }
        return PairingExchange(sid: sid, step: step).json.object ?? [:]
    }

    private static let members = [
        "type", "pairingCode", "mobileDid", "deviceInfo", "timestamp", "pcPeerId", "bw", "payload", "mac", "rev",
        "seal",
        "random", "commit", "sid", "share", "confirm", "did", "reason", "",
    ]

    /// One member is another, at the top or one level below.
    private mutating func change(_ payload: inout JSONObject) {
        let name = input.element(Self.members)
        if input.flag(), var inner = payload[name]?.object {
            inner[input.element(Self.members)] = input.flag() ? input.json(Self.members, depth: 1) : nil
            payload[name] = .object(inner)
        } else {
            payload[name] = input.flag() ? input.json(Self.members, depth: 2) : nil
        }
    }

    /// A frame as the relay hands it over. The hostile peer seals with its own key alone. What an honest peer has once
    /// sealed, for another code, it can only play again.
    mutating func frame(from alias: PeerID? = nil) -> PairingFrame {
        let honest = input.element([peers.device, peers.desktop])
        let delivery: SignallingDelivery = input.choice(4) > 0 ? .live : .stored(at: now - 1_000)
        switch input.choice(6) {
        case 0:
            let from = fault?.kind == .proofs ? honest : peers.hostile
            return PairingFrame(payload(), from: from, isSealed: true, delivery: delivery)
        case 1: return PairingFrame(recorded(), from: honest, isSealed: true, isStale: true, delivery: delivery)
        case 2: return PairingFrame(payload(), from: alias ?? "desktop-1", delivery: delivery)
        default:
            let from = input.element([peers.hostile, peers.device, peers.desktop])
            return PairingFrame(payload(), from: from, isOfSecurePeer: input.choice(4) == 0, delivery: delivery)
        }
    }

    /// What the honest peers had said when they paired with another code.
    private mutating func recorded() -> JSONObject {
        let bond = PairingBond(
            secret: peers.other, device: peers.device, desktop: peers.desktop, code: PairingCode("777777") ?? code())
        switch input.choice(4) {
        case 0: return bond?.ack(of: PairingPeers.info, at: now).json.object ?? [:]
        case 1: return bond?.confirmation(of: PairingPeers.info, at: now).json.object ?? [:]
        case 2: return PairingHello(lastPushSeq: 0).json.object ?? [:]
        default: return PairingReject(code: code(), isStoreFailure: false).json.object ?? [:]
        }
    }

    mutating func desktopOffer() -> DesktopPairingOffer {
        DesktopPairingOffer(
            code: code(), pcPeerID: peers.desktop, deviceInfo: PairingPeers.info, timestamp: now,
            signalingURL: input.flag() ? PairingWorld.routes[0].url : nil,
            relayURL: input.flag() ? PairingWorld.routes[1].url : nil,
            seal: input.choice(4) > 0
                ? PairingSeal(secret: PairingPeers.secretText, confirm: input.flag(), hasRevision: input.flag()) : nil)
    }

    static let routes = [
        PairingRoute(.lan, url: "ws://192.168.1.5:9001"), PairingRoute(.relay, url: "wss://relay.example/ws"),
        PairingRoute(.relay, url: "wss://own.example"),
    ]
}
