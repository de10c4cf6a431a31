import Foundation
import Identity
import JSON
import Testing
import Wire

@testable import Sealing

/// Pushes that are sealed to prekeys, by the vectors of a second implementation (Tests/Integration/prekeys.py).
@Suite struct SealedPushTests {
    private let vectors: JSONValue

    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Vectors/prekeys.json")
        vectors = try JSONValue(parsing: [UInt8](Data(contentsOf: file)))
    }

    private func hex(_ value: JSONValue?) throws -> [UInt8] {
        let text = try #require(value?.string)
        return try #require(TextEncoding.hex.decode(text))
    }

    private func text(_ value: JSONValue?) throws -> String { try #require(value?.string) }

    private var keys: [AgreementKey] {
        get throws {
            try (vectors["prekeys"]?.array ?? []).map { try #require(AgreementKey(secret: hex($0["secret"]))) }
        }
    }

    private func pair(_ psk: JSONValue? = nil) throws -> SealedPush.Pair {
        // All zeros are no preshared key.
        let presharedKey = try PresharedKey(bytes: hex(psk ?? vectors["psk"])) ?? .none()
        return SealedPush.Pair(
            desktop: PeerID(try text(vectors["desktop"])), device: PeerID(try text(vectors["device"])),
            presharedKey: presharedKey)
    }

    /// As a device opens it.
    private func open(_ text: String, _ psk: JSONValue? = nil) throws -> SealedPush.Opened {
        let push = try SealedPush(text)
        guard let key = try keys.first(where: { PrekeyID($0.publicKey) == push.prekey }) else {
            throw SealError(.init("unknown_prekey"), "")
        }
        return try push.open(with: key, pair(psk))
    }

    @Test("a prekey's id is that of the vectors, and a statement is theirs byte by byte")
    func statements() throws {
        let rows = try #require(vectors["prekeys"]?.array)
        for (row, key) in zip(rows, try keys) {
            #expect(try key.publicKey.bytes == hex(row["public"]))
            #expect(try PrekeyID(key.publicKey).bytes == hex(row["id"]))
            #expect(try key.withSecretBytes { $0 } == hex(row["secret"]))
        }
        let points = try keys.map(\.publicKey)
        let statement = PrekeyStatement(keys: Array(points.dropLast()), lastResort: try #require(points.last))
        #expect(statement.json == vectors["statement"])
        let payload = try #require(vectors["statement"]?["payload"]?.object)
        #expect(try PrekeyStatement(payload: payload) == statement)
        #expect(PrekeyShortage(left: 3).json == vectors["shortage"])
        #expect(PrekeyShortage(payload: try #require(vectors["shortage"]?["payload"]?.object))?.left == 3)
    }

    @Test("each push of the vectors opens, and is sealed again byte by byte")
    func pushes() throws {
        let own = AgreementKey(try SigningKey(seed: hex(vectors["desktop_seed"])))
        let ephemeral = try #require(AgreementKey(secret: hex(vectors["ephemeral"])))
        for vector in try #require(vectors["pushes"]?.array) {
            let content = try text(vector["content"])
            let plaintext = try SessionPlaintext(decoding: Array(content.utf8)[...])
            let opened = try open(text(vector["text"]), vector["psk"])
            #expect(opened == .init(body: plaintext.body, timestamp: plaintext.timestamp))
            let timestamp = try #require(plaintext.timestamp)
            #expect(SealedPush.size(of: plaintext.body, timestamp: timestamp) == content.utf8.count)
            let sealed = try SealedPush.seal(
                plaintext.body, timestamp: timestamp, by: own, to: #require(keys.first).publicKey,
                ephemeral: ephemeral, pair(vector["psk"]))
            #expect(sealed.text == vector["text"]?.string)
        }
    }

    @Test("each bad push of the vectors is refused for their reason")
    func rejections() throws {
        let cases = try #require(vectors["rejections"]?.array)
        #expect(cases.count > 25)
        for item in cases {
            var code: String?
            do { _ = try open(text(item["text"])) } catch let error as SealError { code = error.code.name }
            #expect(code == item["code"]?.string, "\(item["name"]?.string ?? "")")
        }
    }

    @Test("a byte more than fits is refused; sizes are Padmé sizes, so that lengths say little")
    func sizes() throws {
        let (own, prekey) = (AgreementKey.generate(), AgreementKey.generate())
        func seal(_ count: Int) throws -> SealedPush {
            let filler = String(repeating: "x", count: count)
            return try SealedPush.seal(
                ["f": .string(filler)], timestamp: 1, by: own, to: prekey.publicKey, ephemeral: .generate(), pair())
        }
        let rest = SealedPush.contentLimit - SealedPush.size(of: ["f": ""], timestamp: 1)
        let longest = try seal(rest)
        #expect(longest.text.utf8.count == 3_836)
        #expect(try SealedPush(longest.text) == longest)
        #expect(throws: SealError(.tooLarge, "2816 bytes exceed the limit of 2815")) { try seal(rest + 1) }
        #expect(Set(try (0..<150).map { try seal($0).text.utf8.count }).count == 1)
        #expect(Padding.size(of: SealedPush.paddedLimit) == SealedPush.paddedLimit)
    }

    @Test("no text traps, whatever it is")
    func garbage() throws {
        var generator = SystemRandomNumberGenerator()
        for count in 0..<600 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            _ = try? SealedPush(PublicBase64URL.encode(bytes))
            _ = try? open(PublicBase64URL.encode([1] + bytes))
        }
    }

    @Test("an id with a line feed in it, or one that is no key, is refused")
    func ids() throws {
        let prekey = try #require(try keys.first)
        let good = try pair()
        for desktop in ["pc-1", "a\nb"] {
            let pair = SealedPush.Pair(
                desktop: PeerID(desktop), device: good.device, presharedKey: good.presharedKey)
            let push = try SealedPush(text(vectors["pushes"]?.array?.first?["text"]))
            #expect { try push.open(with: prekey, pair) } throws: { ($0 as? SealError)?.code == .noKey }
        }
        #expect {
            try SealedPush.seal(
                [:], timestamp: 1, by: .generate(), to: prekey.publicKey, ephemeral: .generate(),
                SealedPush.Pair(desktop: "a", device: "b\n", presharedKey: .none()))
        } throws: {
            ($0 as? SealError)?.code == .noKey
        }
    }

    @Test("a statement with too many keys, a repeated, a weak or a malformed one states nothing")
    func badStatements() throws {
        let key = PublicBase64URL.encode(AgreementKey.generate().publicKey.bytes)
        let other = PublicBase64URL.encode(AgreementKey.generate().publicKey.bytes)
        func code(_ payload: JSONObject) -> SealError.Code? {
            do { _ = try PrekeyStatement(payload: payload) } catch { return error.code }
            return nil
        }
        let many = (0..<65).map { _ in
            JSONValue.string(PublicBase64URL.encode(AgreementKey.generate().publicKey.bytes))
        }
        #expect(code(["v": 1, "keys": [.string(key)], "last": .string(other)]) == nil)
        #expect(code(["v": 1, "keys": [], "last": .string(other)]) == nil)
        #expect(code(["v": 1, "keys": .array(Array(many.prefix(64))), "last": .string(other)]) == nil)
        #expect(code(["v": 1, "keys": .array(many), "last": .string(other)]) == .malformed)
        #expect(code(["v": 2, "keys": [], "last": .string(other)]) == .malformed)
        #expect(code(["v": 1, "last": .string(other)]) == .malformed)
        #expect(code(["v": 1, "keys": []]) == .malformed)
        #expect(code(["v": 1, "keys": [.string(key), .string(key)], "last": .string(other)]) == .malformed)
        #expect(code(["v": 1, "keys": [.string(other)], "last": .string(other)]) == .malformed)
        #expect(code(["v": 1, "keys": [1], "last": .string(other)]) == .malformed)
        #expect(code(["v": 1, "keys": [.string(key + "A")], "last": .string(other)]) == .malformed)
        let zeros = PublicBase64URL.encode([UInt8](repeating: 0, count: 32))
        #expect(code(["v": 1, "keys": [.string(zeros)], "last": .string(other)]) == .weakPoint)
        for left: JSONValue in [-1, 65, "3", 1.5, .null] {
            #expect(PrekeyShortage(payload: ["v": 1, "left": left]) == nil)
        }
    }
}
