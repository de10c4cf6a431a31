import Identity
import JSON
import Sealing
import Signalling
import Store
import TestSupport
import Testing
import Transport
import Wire

@testable import Hosting
@testable import Peering

/// A link that keeps what it is given until the relay of the test takes it.
@EventLoop
private final class KeptLink: RouteLink {
    let state = LinkState.online
    let relay: RelayFacts? = RelayFacts(isProved: true, senderNaming: .byRelay)
    private var kept: [JSONValue] = []

    func start() {}
    func stop() {}
    func suspend() {}
    func resume() {}
    func rest(_ isResting: Bool) {}
    func reconnectNow() {}

    func send(to peer: PeerID, payload: JSONValue, sealed: Bool) -> SendResult {
        kept.append(payload)
        return .written
    }

    func take() -> [JSONValue] {
        defer { kept = [] }
        return kept
    }
}

/// Whoever ends an encrypted pairing needs its keys: in each state of the pairing, on both sides.
///
/// A role removes a peer for an unpair that its channel opens as the peer's, with a mark. Nothing else does.
@Suite(.timeLimit(.minutes(1))) struct ForgedUnpairingTests {
    enum Stage: CaseIterable {
        /// Version 1 of the seal, before the first session.
        case paired
        /// The request for a session is out.
        case handshaking
        case inSession
        /// Paired again, with another preshared key, and no session yet.
        case pairedAgain
        case pairedAgainInSession
    }

    @EventLoop
    private final class End {
        let key: SigningKey
        let id: PeerID
        let channel: PeerChannel
        let link = KeptLink()
        private let database: Database

        init(_ role: SessionPair.Role) throws {
            key = try SigningKey.generate()
            id = PeerID(key.did)
            database = try Database.open(path: ":memory:", migrations: SealStates.migrations).database
            channel = PeerChannel(
                key: key, seal: RoleState.Seal(epoch: 1, windows: [:]), database: database, role: role)
        }

        func close() { database.close() }

        func open(_ payload: JSONValue, from peer: PeerID, mayPair: Bool = false) -> PeerChannel.Opening {
            channel.open(
                PeerMessage(from: peer, payload: payload, timestamp: nil, delivery: .live), of: .secure,
                mayPair: mayPair, over: link)
        }

        /// Whether this ends the pairing with that peer.
        func isUnpaired(by payload: JSONValue, from peer: PeerID, mayPair: Bool = false) -> Bool {
            guard case .ofPeer(let incoming) = open(payload, from: peer, mayPair: mayPair) else { return false }
            return incoming.payload["type"] == Unpair.payload["type"] && incoming.mark != nil
        }

        /// What it sends, sealed.
        func sealed(_ payload: JSONValue, to peer: PeerID, inSession: Bool) -> JSONValue {
            _ = channel.send(payload, to: peer, sealed: true, inSession: inSession, over: link)
            return link.take().last ?? .null
        }
    }

    /// Two ends of one pairing, and what a relay has kept of it.
    @EventLoop
    private struct Home {
        let device: End
        let desktop: End
        var kept: (toDevice: [JSONValue], toDesktop: [JSONValue]) = ([], [])

        init() throws {
            try Identity.start()
            device = try End(.initiator)
            desktop = try End(.responder)
        }

        /// Pairs them with a frame of each. What was sealed before is void.
        func pair() throws {
            let secret = PairingSecret.random()
            let key = PresharedKey(secret, deviceID: device.id.text, desktopID: desktop.id.text)
            for (end, other) in [(device, desktop), (desktop, device)] {
                let frame = other.sealed(
                    ["type": "pair-ack", "bw": ["mac": "x"]], to: end.id, inSession: false)
                let mark: SealMark?
                switch end.open(frame, from: other.id, mayPair: true) {
                case .ofPeer(let incoming), .ofStranger(let incoming), .stale(let incoming): mark = incoming.mark
                case .plainOfSecure, .counted, .handled: mark = nil
                }
                guard let mark else {
                    Issue.record("the pairing frame was not opened")
                    return
                }
                end.channel.keep(other.id, since: mark, presharedKey: key)
            }
        }

        func ask() { desktop.channel.sessions?.ask(device.id, over: desktop.link) }

        /// Carries what is on its way, and a hello in the session.
        func begin() throws {
            ask()
            carry()
            let hello = device.sealed(["type": "bellwire:hello"], to: desktop.id, inSession: true)
            guard case .ofPeer = desktop.open(hello, from: device.id) else {
                Issue.record("no session")
                return
            }
            #expect(device.channel.sessions?.hasSession(with: desktop.id) == true)
            #expect(desktop.channel.sessions?.hasSession(with: device.id) == true)
        }

        func carry() {
            for _ in 0..<4 {
                for frame in desktop.link.take() { _ = device.open(frame, from: desktop.id) }
                for frame in device.link.take() { _ = desktop.open(frame, from: device.id) }
            }
        }

        /// Each side sends an unpair that the relay keeps, in version 1 and in a session if there is one.
        mutating func keepUnpairs(inSession: Bool) {
            for version in inSession ? [false, true] : [false] {
                kept.toDevice.append(desktop.sealed(Unpair.payload, to: device.id, inSession: version))
                kept.toDesktop.append(device.sealed(Unpair.payload, to: desktop.id, inSession: version))
            }
        }

        mutating func reach(_ stage: Stage) throws {
            try pair()
            switch stage {
            case .paired: break
            case .handshaking: ask()
            case .inSession: try begin()
            case .pairedAgain, .pairedAgainInSession:
                keepUnpairs(inSession: false)
                try begin()
                keepUnpairs(inSession: true)
                for (end, other) in [(device, desktop), (desktop, device)] { end.channel.forget(other.id) }
                try pair()
                if stage == .pairedAgainInSession { try begin() }
            }
        }

        func close() {
            device.close()
            desktop.close()
        }
    }

    init() throws { try EventLoop.start() }

    /// What anybody can send in the peer's name without its keys, or has kept of an earlier pairing.
    @EventLoop
    private func forgeries(for end: End, from peer: End, evil: End, kept: [JSONValue]) -> [(String, JSONValue)] {
        var plain: [(String, JSONValue)] = [
            ("plain", Unpair.payload), ("plain text", .string(Unpair.payload.serialized())),
            ("a proof of nothing", ["type": "bellwire:unpair", "payload": [:], "bw": ["mac": "x"]]),
            ("sealed by word alone", ["type": "bellwire:unpair", "payload": [:], "sealed": true]),
            ("a sealed body by word alone", ["type": "bellwire:sealed", "body": Unpair.payload]),
            ("no payload", ["type": "bellwire:unpair"]),
        ]
        for type in ["pairing:reject", "goodbye", "bye", "peer-offline", "unregistered", "error", "bellwire:revoke"] {
            plain.append((type, ["type": .string(type), "peerId": .string(peer.id.text), "code": "PEER_UNKNOWN"]))
        }
        plain.append(("rekey", ["type": "bellwire:rekey", "payload": ["old": .string(peer.id.text)]]))
        let sealed = [
            ("sealed by another peer", evil.sealed(Unpair.payload, to: end.id, inSession: false)),
            // Whoever has a key of the two can seal in version 1, and has no preshared key.
            ("without the preshared key", peer.sealed(Unpair.payload, to: end.id, inSession: false)),
            (
                "with another preshared key",
                peer.sealed(
                    ["type": "bellwire:unpair", "payload": ["mac": .string(String(repeating: "A", count: 43))]],
                    to: end.id, inSession: false)
            ),
            ("sealed for another peer", peer.sealed(Unpair.payload, to: evil.id, inSession: false)),
            ("reflected", end.sealed(Unpair.payload, to: peer.id, inSession: false)),
            ("reflected in a session", end.sealed(Unpair.payload, to: peer.id, inSession: true)),
        ]
        return plain + sealed + kept.enumerated().map { ("kept \($0.offset)", $0.element) }
    }

    @Test(
        "no forged or kept unpair ends an encrypted pairing, in any state; the peer's own does",
        arguments: Stage.allCases)
    @EventLoop func forged(stage: Stage) throws {
        for isDevice in [true, false] {
            var home = try Home()
            try home.reach(stage)
            let evil = try End(.initiator)
            let (end, peer) = isDevice ? (home.device, home.desktop) : (home.desktop, home.device)
            let kept = isDevice ? home.kept.toDevice : home.kept.toDesktop
            #expect(kept.count == (stage == .pairedAgain || stage == .pairedAgainInSession ? 3 : 0))
            let hadSession = end.channel.sessions?.hasSession(with: peer.id)
            let status = end.channel.sessions?.status(of: peer.id)
            for mayPair in [false, true] {
                for (name, payload) in forgeries(for: end, from: peer, evil: evil, kept: kept) {
                    #expect(
                        !end.isUnpaired(by: payload, from: peer.id, mayPair: mayPair),
                        "\(name), \(stage), the device: \(isDevice), pairing: \(mayPair)")
                }
            }
            #expect(end.channel.sessions?.hasSession(with: peer.id) == hadSession)
            // A frame of the peer's that proves nothing is shown as a problem, and changes nothing else.
            var later = end.channel.sessions?.status(of: peer.id)
            if later?.problem == .denied { later?.problem = status?.problem }
            #expect(later == status)
            #expect(!end.channel.isRevoked(peer.id))
            // The peer itself still can, once.
            _ = peer.link.take()
            #expect(peer.channel.sendUnpair(to: end.id, over: peer.link) == .written)
            let genuine = try #require(peer.link.take().last)
            #expect(end.isUnpaired(by: genuine, from: peer.id), "\(stage)")
            #expect(!end.isUnpaired(by: genuine, from: peer.id), "twice")
            evil.close()
            home.close()
        }
    }

    /// With one member changed, however deep, and its name.
    private static func changing(_ value: JSONValue, using random: inout SeededGenerator) -> (JSONValue, String) {
        guard var object = value.object, let key = object.keys.randomElement(using: &random) else { return (value, "") }
        switch object[key] ?? .null {
        case .object(let inner):
            let (changed, name) = changing(.object(inner), using: &random)
            object[key] = changed
            return (.object(object), "\(key).\(name)")
        case .string(let text) where !text.isEmpty:
            var characters = Array(text)
            let place = Int.random(in: 0..<characters.count, using: &random)
            characters[place] = characters[place] == "A" ? "B" : "A"
            object[key] = .string(String(characters))
        case .integer(let number): object[key] = .integer(number &+ Int64.random(in: 1...9, using: &random))
        case .null, .bool, .double, .array, .string: object[key] = nil
        }
        return (.object(object), key)
    }

    @Test("a sealed frame with any member changed is no unpair, at random", arguments: 0..<20 as Range<UInt64>)
    @EventLoop func changed(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for stage in Stage.allCases {
            var home = try Home()
            try home.reach(stage)
            for _ in 0..<20 {
                let inSession = Bool.random(using: &random)
                let genuine = home.desktop.sealed(Unpair.payload, to: home.device.id, inSession: inSession)
                let (changed, key) = Self.changing(genuine, using: &random)
                guard changed != genuine else { continue }
                #expect(
                    !home.device.isUnpaired(by: changed, from: home.desktop.id),
                    "seed \(seed), \(stage), \(key)")
            }
            home.close()
        }
    }
}
