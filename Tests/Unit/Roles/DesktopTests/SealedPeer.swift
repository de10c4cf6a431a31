import Identity
import JSON
import Sealing
import Signalling
import TestSupport
import Testing
import Transport
import Wire

/// A Bellwire device: it proves its id, and says in seals what a test wants it to say.
@EventLoop
final class SealedPeer {
    let key: SigningKey
    let id: String
    private let sealer: Sealer
    private let bodies = Mailbox<JSONObject>()
    private let envelopes = Mailbox<JSONValue>()
    private let plain = Mailbox<JSONValue>()
    private let isOnline = Mailbox<Bool>()
    private var link: (any RouteLink)?
    /// Whether it says at once that it has stored a push.
    var acknowledgesPushes = true
    /// Of the last ack that it has made.
    private(set) var secret: PairingSecret?

    private init(_ key: SigningKey, epoch: Int64) {
        self.key = key
        id = key.did
        sealer = Sealer(key: key, epoch: epoch)
    }

    /// Connects to the relay and registers with a proof.
    static func register(
        at url: String, key: SigningKey? = nil, epoch: Int64 = 1, _ location: SourceLocation = #_sourceLocation
    ) async throws -> SealedPeer {
        try Identity.start()
        let peer = SealedPeer(try key ?? SigningKey.generate(), epoch: epoch)
        let request = RelayLinkRequest(
            url: url, registration: SignallingFrame.Register(peerID: PeerID(peer.id), deviceType: .mobile),
            provingWith: peer.key)
        peer.link = try BenchRelay.links.make(request) { [weak peer] _, event in peer?.received(event) }
        peer.link?.start()
        _ = try await peer.isOnline.take("a registration", location) { $0 }
        return peer
    }

    private func received(_ event: LinkEvent) {
        switch event {
        case .stateChanged(let state): isOnline.put(state.isOnline)
        case .message(let message):
            guard message.isSealed, let payload = message.payload.object else { return plain.put(message.payload) }
            envelopes.put(message.payload)
            if let opened = try? sealer.open(payload, from: message.from) {
                bodies.put(opened.body)
                if let seq = opened.body["payload"]?["pushSeq"]?.integer, acknowledgesPushes {
                    _ = try? say("bellwire:ack", ["pushSeq": .integer(seq)], to: message.from.text)
                }
            }
        case .routed, .peerOffline, .peerStatus, .peers, .absenceReporting, .senderNaming, .refused, .malformed: break
        }
    }

    func stop() { link?.stop() }

    func start() { link?.start() }

    /// Registered again.
    func online(_ location: SourceLocation = #_sourceLocation) async throws {
        _ = try await isOnline.take("a registration", location) { $0 }
    }

    // MARK: Saying

    /// Seals and sends. Gives the payload as it went out, to be sent again.
    @discardableResult
    func seal(_ body: JSONValue, to desktop: String, at moment: EpochMilliseconds = .now) throws -> JSONValue {
        let payload = JSONValue.object(try sealer.seal(body.object ?? [:], to: PeerID(desktop), now: moment))
        send(payload, to: desktop)
        return payload
    }

    @discardableResult
    func say(_ type: String, _ payload: JSONValue, to desktop: String) throws -> JSONValue {
        try seal(["type": .string(type), "payload": payload], to: desktop)
    }

    /// A sealed payload, as it stands.
    func send(_ payload: JSONValue, to desktop: String) {
        _ = link?.send(to: PeerID(desktop), payload: payload, sealed: true)
    }

    func sendPlain(_ payload: JSONValue, to peer: String) {
        _ = link?.send(to: PeerID(peer), payload: payload, sealed: false)
    }

    /// The ack of a desktop's code, with the proof that belongs to the secret.
    func ack(
        _ code: String, of desktop: String, secret: PairingSecret?, name: String = "My phone"
    ) -> JSONValue {
        self.secret = secret
        let now = EpochMilliseconds.now
        let mac = secret.map {
            PairingProof.mac($0, kind: .ack, deviceID: id, desktopID: desktop, code: code, timestamp: now)
        }
        return [
            "type": "pair-ack", "pairingCode": .string(code), "mobileDid": .string(id),
            "deviceInfo": ["deviceId": "linux-1", "name": .string(name), "platform": "linux"],
            "timestamp": .integer(now), "bw": mac.map { ["mac": .string($0)] },
        ]
    }

    /// Answers a desktop's QR code as a Bellwire device does.
    @discardableResult
    func acknowledge(_ offer: JSONValue, secret: PairingSecret? = nil) -> JSONValue {
        let desktop = offer["pcPeerId"]?.string ?? ""
        let secret = secret ?? offer["bw"]?["secret"]?.string.flatMap { PairingSecret(base64url: $0) }
        return (try? seal(ack(offer["code"]?.string ?? "", of: desktop, secret: secret), to: desktop)) ?? .null
    }

    /// A sealed command.
    @discardableResult
    func command(_ method: String, _ params: JSONValue = [:], id: String, to desktop: String) throws -> JSONValue {
        try seal(request(method, params, id: id), to: desktop)
    }

    func request(_ method: String, _ params: JSONValue = [:], id: String) -> JSONValue {
        [
            "type": "chainlesschain:command:request",
            "payload": ["id": .string(id), "method": .string(method), "params": params],
        ]
    }

    /// A code of its own, for a desktop to scan.
    func offer(_ code: String, secret: PairingSecret?, since: EpochMilliseconds = .now) -> String {
        JSONValue.object([
            "type": "device-pairing", "code": .string(code), "did": .string(id),
            "deviceInfo": ["deviceId": "linux-1", "name": "My phone", "platform": "linux"],
            "timestamp": .integer(since), "bw": secret.map { ["v": 1, "secret": .string($0.base64url)] },
        ]).serialized()
    }

    // MARK: Hearing

    /// The next one of that type that came in a seal.
    func body(_ type: String, _ location: SourceLocation = #_sourceLocation) async throws -> JSONObject {
        try await bodies.take("a sealed \(type)", location) { $0["type"] == .string(type) }
    }

    /// The answer to a sealed command.
    func answer(_ id: String, _ location: SourceLocation = #_sourceLocation) async throws -> JSONValue {
        let body = try await bodies.take("an answer", location) { $0["payload"]?["id"] == .string(id) }
        return body["payload"] ?? .null
    }

    /// A sealed payload as it came, whatever is in it.
    func envelope(_ location: SourceLocation = #_sourceLocation) async throws -> JSONValue {
        try await envelopes.take("a sealed payload", location) { _ in true }
    }

    /// A payload that came outside of a seal.
    func plain(_ type: String, _ location: SourceLocation = #_sourceLocation) async throws -> JSONValue {
        try await plain.take("a plain \(type)", location) { $0["type"] == .string(type) }
    }

    /// All that came outside of a seal.
    var allPlain: [JSONValue] { plain.all }
    /// What was in seals and nobody has taken.
    var allBodies: [JSONObject] { bodies.all }

    /// Is it the confirmation of that code, with the right proof?
    func proves(_ confirmation: JSONObject, code: String, desktop: String) -> Bool {
        guard let secret, let mac = confirmation["bw"]?["mac"]?.string,
            let timestamp = confirmation["timestamp"]?.integer
        else { return false }
        return PairingProof.verifies(
            mac, secret, kind: .confirmation, deviceID: id, desktopID: desktop, code: code, timestamp: timestamp)
    }
}
