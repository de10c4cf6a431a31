import Foundation
import JSON
import Testing

@testable import Identity

/// The one-way message against the published vector, and what it refuses.
@Suite struct NoiseKpsk0Tests {
    private let vector: JSONValue

    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Features/SealingTests/Vectors/noise-kpsk0.json")
        vector = try JSONValue(parsing: [UInt8](Data(contentsOf: file)))
    }

    private func bytes(_ value: JSONValue?) throws -> [UInt8] {
        let text = try #require(value?.string)
        return try #require(TextEncoding.hex.decode(text))
    }

    private func key(_ name: String) throws -> AgreementKey {
        try #require(AgreementKey(secret: bytes(vector[name])))
    }

    private func context(psk: PresharedKey? = nil, prologue: [UInt8]? = nil) throws -> NoiseKpsk0.Context {
        NoiseKpsk0.Context(
            presharedKey: try psk ?? #require(PresharedKey(bytes: bytes(vector["init_psks"]?.array?.first))),
            prologue: try prologue ?? bytes(vector["init_prologue"]))
    }

    private func code(_ work: () throws -> Void) -> NoiseError.Code? {
        do { try work() } catch let error as NoiseError { return error.code } catch { return nil }
        return nil
    }

    @Test("the message of the published Kpsk0 vector comes out byte by byte, and opens")
    func published() throws {
        #expect(vector["protocol_name"]?.string == NoiseKpsk0.protocolName)
        let message = try #require(vector["messages"]?.array?.first)
        let (payload, ciphertext) = (try bytes(message["payload"]), try bytes(message["ciphertext"]))
        let (sender, receiver) = (try key("init_static"), try key("resp_static"))
        #expect(try sender.publicKey.bytes == bytes(vector["resp_remote_static"]))
        #expect(try receiver.publicKey.bytes == bytes(vector["init_remote_static"]))
        let sealed = try NoiseKpsk0.seal(
            payload, from: sender, to: receiver.publicKey, ephemeral: key("init_ephemeral"), context())
        #expect(sealed == ciphertext)
        #expect(sealed.count == payload.count + NoiseKpsk0.overhead)
        #expect(try NoiseKpsk0.open(ciphertext, from: sender.publicKey, to: receiver, context()) == payload)
    }

    @Test("a changed byte, another key on either side, another preshared key or prologue don't open")
    func refusals() throws {
        let (sender, receiver) = (AgreementKey.generate(), AgreementKey.generate())
        let message = try NoiseKpsk0.seal(
            [1, 2, 3], from: sender, to: receiver.publicKey, ephemeral: .generate(), context())
        #expect(try NoiseKpsk0.open(message, from: sender.publicKey, to: receiver, context()) == [1, 2, 3])
        for index in message.indices {
            var wrong = message
            wrong[index] ^= 1
            let refusal = code { _ = try NoiseKpsk0.open(wrong, from: sender.publicKey, to: receiver, context()) }
            #expect(refusal == .forged || refusal == .invalidPoint)
        }
        let other = AgreementKey.generate()
        #expect(
            code { _ = try NoiseKpsk0.open(message, from: other.publicKey, to: receiver, context()) } == .forged)
        #expect(code { _ = try NoiseKpsk0.open(message, from: sender.publicKey, to: other, context()) } == .forged)
        #expect(
            code { _ = try NoiseKpsk0.open(message, from: sender.publicKey, to: receiver, context(psk: .none())) }
                == .forged)
        #expect(
            code { _ = try NoiseKpsk0.open(message, from: sender.publicKey, to: receiver, context(prologue: [])) }
                == .forged)
        // Nobody but the sender's key and the receiver's make one: with an ephemeral key and the preshared key alone it is
        // no message.
        let forged = try NoiseKpsk0.seal(
            [1], from: other, to: receiver.publicKey, ephemeral: .generate(), context())
        #expect(
            code { _ = try NoiseKpsk0.open(forged, from: sender.publicKey, to: receiver, context()) } == .forged)
    }

    @Test("what is too short, or begins with a point of low order, is refused", arguments: [0, 1, 31, 32, 47])
    func short(count: Int) throws {
        let (sender, receiver) = (AgreementKey.generate(), AgreementKey.generate())
        let short = [UInt8](repeating: 9, count: count)
        #expect(
            code { _ = try NoiseKpsk0.open(short, from: sender.publicKey, to: receiver, context()) } == .malformed)
        let zeros = [UInt8](repeating: 0, count: 64)
        #expect(
            code { _ = try NoiseKpsk0.open(zeros, from: sender.publicKey, to: receiver, context()) }
                == .invalidPoint)
    }
}
