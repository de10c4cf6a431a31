import Foundation
import Identity
import JSON
import Testing
import Wire

@testable import Sealing

/// The vectors that a second implementation made (Tests/Integration/sessions.py).
@Suite struct SessionVectorTests {
    private let vectors: JSONValue

    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Vectors/sessions.json")
        vectors = try JSONValue(parsing: [UInt8](Data(contentsOf: file)))
    }

    private func hex(_ value: JSONValue?) throws -> [UInt8] {
        let text = try #require(value?.string)
        return try #require(TextEncoding.hex.decode(text))
    }

    private func frame(_ value: JSONValue?) throws -> JSONObject { try #require(value?.object) }

    private func side(_ role: SessionPair.Role, psk: PresharedKey? = nil) throws -> SessionBench.Side {
        let (own, peer) = role == .initiator ? ("device", "desktop") : ("desktop", "device")
        let key = try SigningKey(seed: hex(vectors[own]?["seed"]))
        #expect(key.did == vectors[own]?["did"]?.string)
        let ofVectors = try #require(PresharedKey(bytes: hex(vectors["psk"]?["qr"]?["psk"])))
        let presharedKey = psk ?? ofVectors
        return try SessionBench.Side(
            key: key, peer: PeerID(#require(vectors[peer]?["did"]?.string)), role: role, psk: presharedKey,
            seed: SessionSeed(
                id: #require(SessionID(bytes: hex(vectors["sid"]))),
                ephemeral: #require(AgreementKey(secret: hex(vectors[own]?["ephemeral"])))))
    }

    @Test("both identities have the X25519 forms of the vectors")
    func identities() throws {
        for name in ["device", "desktop"] {
            let key = try SigningKey(seed: hex(vectors[name]?["seed"]))
            #expect(try AgreementKey(key).publicKey.bytes == hex(vectors[name]?["x25519"]))
            #expect(try AgreementPublicKey(key.publicKey).bytes == hex(vectors[name]?["x25519"]))
        }
    }

    @Test("the preshared key of a QR's secret is that of the vectors")
    func presharedKey() throws {
        let secret = try #require(PairingSecret(bytes: hex(vectors["psk"]?["qr"]?["secret"])))
        let device = try #require(vectors["device"]?["did"]?.string)
        let desktop = try #require(vectors["desktop"]?["did"]?.string)
        let psk = try #require(PresharedKey(secret, deviceID: device, desktopID: desktop))
        #expect(try psk.withBytes { $0 } == hex(vectors["psk"]?["qr"]?["psk"]))
    }

    @Test("the prologue is that of the vectors")
    func prologue() throws {
        let bytes = try SessionBinding.prologue(
            initiator: PeerID(#require(vectors["device"]?["did"]?.string)),
            responder: PeerID(#require(vectors["desktop"]?["did"]?.string)),
            id: #require(SessionID(bytes: hex(vectors["sid"]))), suites: SessionSuite.supported)
        #expect(try bytes == hex(vectors["prologue"]))
    }

    @Test("padding has the sizes of the vectors")
    func padding() throws {
        for pair in try #require(vectors["padding"]?.array) {
            let (count, size) = (pair.array?.first?.integer, pair.array?.last?.integer)
            #expect(Padding.size(of: Int(try #require(count))) == Int(try #require(size)))
        }
    }

    @Test("a handshake with the keys of the vectors is theirs frame by frame, with a preshared key and without")
    func handshake() throws {
        for (name, psk) in [("handshake", nil), ("without_psk", PresharedKey.none())] {
            let (device, desktop) = (try side(.initiator, psk: psk), try side(.responder, psk: psk))
            #expect(device.machine.hasPresharedKey == (psk == nil))
            let first = try #require(device.register().first?.frame)
            #expect(try first == frame(vectors[name]?["initiation"]))
            #expect(
                JSONValue.object(first).serialized()
                    == JSONValue.object(try frame(vectors[name]?["initiation"])).serialized())
            let second = try #require(try desktop.receive(first).first?.frame)
            #expect(try second == frame(vectors[name]?["answer"]))
            #expect(try device.receive(second) == [.greet])
        }
        #expect(try HandshakeFrame.request.json == frame(vectors["handshake"]?["request"]))
    }

    @Test("each frame of the vectors opens, has their associated data, and is sealed again byte by byte")
    func frames() throws {
        for vector in try #require(vectors["frames"]?.array) {
            let session = try established()
            let isFromDevice = vector["from"] == "device"
            let (sender, opener) = isFromDevice ? (session.device, session.desktop) : (session.desktop, session.device)
            let payload = try frame(vector["frame"])
            let read = try SessionFrame(decoding: payload)
            #expect(read.json == payload)
            let data = SessionBinding.associatedData(read.id, fromInitiator: isFromDevice, counter: read.counter)
            #expect(try data == hex(vector["ad"]))
            #expect(Int64(read.box.count) == (vector["padded"]?.integer ?? 0) + 16)
            let content = Array(try #require(vector["content"]?.string).utf8)
            #expect(try sender.seal(Padding.pad(content), nonce: read.counter, data: data) == read.box)
            let padded = try #require(opener.open(read.box, nonce: read.counter, data: data))
            let plaintext = try SessionPlaintext(decoding: #require(Padding.unpad(padded)))
            #expect(plaintext.bytes == content)
        }
    }

    /// The transport keys of both sides after the handshake of the vectors.
    private func established() throws -> (device: TransportKeys, desktop: TransportKeys) {
        let id = try #require(SessionID(bytes: hex(vectors["sid"])))
        let prologue = try hex(vectors["prologue"])
        let psk = try #require(PresharedKey(bytes: hex(vectors["psk"]?["qr"]?["psk"])))
        func parameters(_ own: String, _ peer: String) throws -> NoiseKKpsk2.Parameters {
            NoiseKKpsk2.Parameters(
                own: AgreementKey(try SigningKey(seed: hex(vectors[own]?["seed"]))),
                peer: try AgreementPublicKey(bytes: hex(vectors[peer]?["x25519"])), presharedKey: psk,
                prologue: prologue)
        }
        func ephemeral(_ name: String) throws -> AgreementKey {
            try #require(AgreementKey(secret: hex(vectors[name]?["ephemeral"])))
        }
        let initiator = try NoiseInitiator(parameters("device", "desktop"), ephemeral: ephemeral("device"))
        let responder = try NoiseResponder(parameters("desktop", "device"), message: initiator.message)
        let (answer, desktop) = try responder.answer(ephemeral: ephemeral("desktop"))
        #expect(id.bytes.count == 16)
        return (try initiator.finish(answer).keys, desktop)
    }

    @Test("each bad handshake of the vectors is refused for their reason, and the good one still completes")
    func handshakeRejections() throws {
        let cases = try #require(vectors["handshake_rejections"]?.array)
        #expect(cases.count > 60)
        let first = try frame(vectors["handshake"]?["initiation"])
        let second = try frame(vectors["handshake"]?["answer"])
        for item in cases {
            let (device, desktop) = (try side(.initiator), try side(.responder))
            _ = device.register()
            let bad = try frame(item["frame"])
            let name = "\(item["to"]?.string ?? ""): \(item["name"]?.string ?? "")"
            if item["to"] == "device" {
                #expect(device.refusal(of: bad)?.name == item["code"]?.string, "\(name)")
            } else {
                #expect(desktop.refusal(of: bad)?.name == item["code"]?.string, "\(name)")
                #expect(desktop.machine.held == 0, "\(name)")
            }
            #expect(try desktop.receive(first).count == 1, "\(name)")
            #expect(try device.receive(second) == [.greet], "\(name)")
        }
    }

    @Test("each bad frame of the vectors is refused for their reason, and spends nothing")
    func frameRejections() throws {
        let (device, desktop) = (try side(.initiator), try side(.responder))
        _ = device.register()
        _ = try desktop.receive(frame(vectors["handshake"]?["initiation"]))
        _ = try device.receive(frame(vectors["handshake"]?["answer"]))
        let hello = try frame(vectors["frames"]?.array?.first?["frame"])
        #expect(desktop.open(hello).opened?.isFirst == true)
        let cases = try #require(vectors["frame_rejections"]?.array)
        #expect(cases.count > 25)
        for item in cases {
            let code = desktop.open(try frame(item["frame"])).code
            #expect((code?.name ?? "") == item["code"]?.string, "\(item["name"]?.string ?? "")")
        }
    }
}
