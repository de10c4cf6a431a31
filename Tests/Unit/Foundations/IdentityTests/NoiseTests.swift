import Foundation
import Testing

@testable import Identity

/// The handshake against the published vector, and what it refuses.
@Suite struct NoiseTests {
    private struct Vector: Decodable {
        struct Message: Decodable {
            let payload: String
            let ciphertext: String
        }

        let protocol_name: String
        let init_prologue: String
        let init_psks: [String]
        let init_static: String
        let init_ephemeral: String
        let init_remote_static: String
        let resp_static: String
        let resp_ephemeral: String
        let resp_remote_static: String
        let messages: [Message]
    }

    private let vector: Vector

    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Features/SealingTests/Vectors/noise-kkpsk2.json")
        vector = try JSONDecoder().decode(Vector.self, from: Data(contentsOf: file))
    }

    private func bytes(_ hex: String) throws -> [UInt8] { try #require(TextEncoding.hex.decode(hex)) }

    private func key(_ hex: String) throws -> AgreementKey { try #require(AgreementKey(secret: bytes(hex))) }

    private func parameters(initiator: Bool, psk: PresharedKey? = nil, prologue: [UInt8]? = nil) throws
        -> NoiseKKpsk2.Parameters
    {
        NoiseKKpsk2.Parameters(
            own: try key(initiator ? vector.init_static : vector.resp_static),
            peer: try AgreementPublicKey(
                bytes: bytes(initiator ? vector.init_remote_static : vector.resp_remote_static)),
            presharedKey: try psk ?? #require(PresharedKey(bytes: bytes(vector.init_psks[0]))),
            prologue: try prologue ?? bytes(vector.init_prologue))
    }

    private func code(_ work: () throws -> Void) -> NoiseError.Code? {
        do { try work() } catch let error as NoiseError { return error.code } catch { return nil }
        return nil
    }

    @Test("every message of the published KKpsk2 vector comes out byte by byte, on both sides")
    func published() throws {
        #expect(vector.protocol_name == NoiseKKpsk2.protocolName)
        let payloads = try vector.messages.map { try bytes($0.payload) }
        let ciphertexts = try vector.messages.map { try bytes($0.ciphertext) }
        let initiator = try NoiseInitiator(
            parameters(initiator: true), ephemeral: key(vector.init_ephemeral), payload: payloads[0])
        #expect(initiator.message == ciphertexts[0])
        let responder = try NoiseResponder(parameters(initiator: false), message: initiator.message)
        #expect(responder.payload == payloads[0])
        let (answer, responderKeys) = try responder.answer(
            ephemeral: key(vector.resp_ephemeral), payload: payloads[1])
        #expect(answer == ciphertexts[1])
        let (payload, initiatorKeys) = try initiator.finish(answer)
        #expect(payload == payloads[1])
        #expect(initiatorKeys.handshakeHash == responderKeys.handshakeHash)
        for index in 2..<payloads.count {
            let (sender, receiver) =
                index.isMultiple(of: 2) ? (initiatorKeys, responderKeys) : (responderKeys, initiatorKeys)
            let nonce = UInt64((index - 2) / 2)
            #expect(try sender.seal(payloads[index], nonce: nonce, data: []) == ciphertexts[index])
            #expect(receiver.open(ciphertexts[index], nonce: nonce, data: []) == payloads[index])
            #expect(sender.open(ciphertexts[index], nonce: nonce, data: []) == nil)
            #expect(receiver.open(ciphertexts[index], nonce: nonce + 1, data: []) == nil)
            #expect(receiver.open(ciphertexts[index], nonce: nonce, data: [0]) == nil)
        }
        #expect(code { _ = try initiatorKeys.seal([], nonce: .max, data: []) } == .exhausted)
        #expect(responderKeys.open(ciphertexts[2], nonce: .max, data: []) == nil)
    }

    @Test("a wrong answer changes nothing: the right one still completes the handshake")
    func wrongAnswers() throws {
        let initiator = try NoiseInitiator(parameters(initiator: true), ephemeral: .generate())
        let responder = try NoiseResponder(parameters(initiator: false), message: initiator.message)
        let (answer, _) = try responder.answer(ephemeral: .generate())
        #expect(answer.count == NoiseKKpsk2.messageByteCount)
        for index in answer.indices {
            var wrong = answer
            wrong[index] ^= 1
            let refusal = code { _ = try initiator.finish(wrong) }
            #expect(refusal == .forged || refusal == .invalidPoint)
        }
        #expect(code { _ = try initiator.finish(answer + [0]) } == .forged)
        #expect(code { _ = try initiator.finish(Array(answer.dropLast())) } == .malformed)
        #expect(code { _ = try initiator.finish([]) } == .malformed)
        _ = try initiator.finish(answer)
    }

    @Test("another prologue, another preshared key or none, and another identity don't complete a handshake")
    func bindings() throws {
        let message = try NoiseInitiator(parameters(initiator: true), ephemeral: .generate()).message
        #expect(
            code { _ = try NoiseResponder(parameters(initiator: false, prologue: []), message: message) } == .forged)
        let other = try #require(PresharedKey(bytes: [UInt8](repeating: 7, count: 32)))
        for psk in [PresharedKey.none(), other] {
            let initiator = try NoiseInitiator(parameters(initiator: true), ephemeral: .generate())
            let responder = try NoiseResponder(
                parameters(initiator: false, psk: psk), message: initiator.message)
            let (answer, _) = try responder.answer(ephemeral: .generate())
            #expect(code { _ = try initiator.finish(answer) } == .forged)
        }
        let stranger = try parameters(initiator: true)
        let forged = NoiseKKpsk2.Parameters(
            own: .generate(), peer: stranger.peer, presharedKey: stranger.presharedKey, prologue: stranger.prologue)
        let attempt = try NoiseInitiator(forged, ephemeral: .generate()).message
        #expect(code { _ = try NoiseResponder(parameters(initiator: false), message: attempt) } == .forged)
    }

    /// The canonical ones of RFC 7748's curve, from the list of libsodium's authors; others are these plus the prime.
    private static let lowOrder = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ]

    @Test("points of low order, and those that are not canonical, are not keys", arguments: lowOrder)
    func lowOrderPoints(hex: String) throws {
        let point = try bytes(hex)
        #expect(code { _ = try AgreementPublicKey(bytes: point) } == .invalidPoint)
        var high = point
        high[31] |= 0x80
        #expect(code { _ = try AgreementPublicKey(bytes: high) } == .invalidPoint)
    }

    @Test("only numbers below 2^255 - 19 are canonical")
    func canonical() throws {
        let base: [UInt8] = [9] + [UInt8](repeating: 0, count: 31)
        #expect(try AgreementPublicKey(bytes: base).bytes == base)
        var high = base
        high[31] = 0x80
        #expect(code { _ = try AgreementPublicKey(bytes: high) } == .invalidPoint)
        for low: UInt8 in 0xed...0xff {
            let bytes = [low] + [UInt8](repeating: 0xff, count: 30) + [0x7f]
            #expect(code { _ = try AgreementPublicKey(bytes: bytes) } == .invalidPoint)
        }
        _ = try AgreementPublicKey(bytes: [0xeb] + [UInt8](repeating: 0xff, count: 30) + [0x7f])
        for count in [0, 1, 31, 33, 64] {
            let bytes = [UInt8](repeating: 9, count: count)
            #expect(code { _ = try AgreementPublicKey(bytes: bytes) } == .invalidPoint)
            #expect(AgreementKey(secret: bytes) == nil)
        }
    }

    @Test("both forms of an identity belong together, and two of them agree")
    func identities() throws {
        let (alice, bob) = (try SigningKey.generate(), try SigningKey.generate())
        let (a, b) = (AgreementKey(alice), AgreementKey(bob))
        #expect(try AgreementPublicKey(alice.publicKey) == a.publicKey)
        var (left, right) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32))
        try left.withUnsafeMutableBufferPointer { try a.agree(with: b.publicKey, into: #require($0.baseAddress)) }
        try right.withUnsafeMutableBufferPointer { try b.agree(with: a.publicKey, into: #require($0.baseAddress)) }
        #expect(left == right && left.contains { $0 != 0 })
    }

    @Test("a preshared key belongs to a pairing's secret and its two peers; without a pairing it is zero and says so")
    func presharedKeys() throws {
        let secret = try #require(PairingSecret(bytes: (0..<16).map { UInt8($0) }))
        let other = try #require(PairingSecret(bytes: (1..<17).map { UInt8($0) }))
        func key(_ secret: PairingSecret, _ device: String, _ desktop: String) throws -> PresharedKey {
            try #require(PresharedKey(secret, deviceID: device, desktopID: desktop))
        }
        let psk = try key(secret, "a", "b")
        #expect(try psk == key(secret, "a", "b"))
        #expect(try psk != key(secret, "b", "a"))
        #expect(try psk != key(other, "a", "b"))
        #expect(psk.isFromPairing)
        #expect(PresharedKey(secret, deviceID: "a\nb", desktopID: "c") == nil)
        #expect(PresharedKey(secret, deviceID: "a", desktopID: "\n") == nil)
        #expect(psk.withBytes { PresharedKey(bytes: $0) } == psk)
        let none = PresharedKey.none()
        #expect(!none.isFromPairing && none.withBytes { $0.allSatisfy { $0 == 0 } })
        for bytes in [[], [UInt8](repeating: 0, count: 32), [UInt8](repeating: 1, count: 31)] {
            #expect(PresharedKey(bytes: bytes) == nil)
        }
        #expect("\(psk)" == "a preshared key" && Mirror(reflecting: psk).children.isEmpty)
    }
}
