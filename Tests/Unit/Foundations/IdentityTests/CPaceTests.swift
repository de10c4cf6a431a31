import Testing

@testable import Identity

/// Figures of draft-irtf-cfrg-cpace-21, appendices A and B.3 (CPACE-RISTR255-SHA512).
@Suite struct CPaceVectorTests {
    private let password = Array("Password".utf8)
    private let channel = "\u{0b}A_initiator\u{0b}B_responder"
    private let session = "7e4b4791d6a8ef019b936c79fb7f2c57"
    private let generator = "222b6b195fe84b1652badb6f6a3ae3d24341e7306967f0b8115b40d5698c7e56"
    private let scalarA = "da3d23700a9e5699258aef94dc060dfda5ebb61f02a5ea77fad53f4ff0976d08"
    private let shareA = "d6bac480f2c386c394efc7c47adb9925dcd2630b64f240c50f8d0eec482b9157"
    private let scalarB = "d2316b454718c35362d83d69df6320f38578ed5984651435e2949762d900b80d"
    private let shareB = "3ea7e0b19560d7c0b0f5734f63b955286dfa8232b5ebe63324e2d9e7433f7258"
    private let point = "80b69a8a76457ab6a4d7f887a4bf6b55a2f80ac19c333f917a05fc9887c8b40f"
    private let sessionKey =
        "b69effbf61b51d56401c0f65601abe428de8206feaaf0e32198896dcae7b35cd"
        + "2b38950a39dfd5d4a79164614c2984f7daa460b588c1e80c3fa2068af7900447"

    init() throws { try Identity.start() }

    private func bytes(_ hex: String) throws -> [UInt8] { try #require(TextEncoding.hex.decode(hex)) }
    private func hex(_ secret: SecretBytes?) -> String? {
        secret.map { secret in
            TextEncoding.hex.encode(secret.withBytes { Array(UnsafeBufferPointer(start: $0, count: secret.count)) })
        }
    }
    private func base64url(_ hex: String) throws -> String { TextEncoding.base64url.encode(try bytes(hex)) }

    @Test("A.1: lengths are written in front, in LEB128")
    func strings() throws {
        #expect(CPaceFunctions.lvCat([]) == [0])
        #expect(TextEncoding.hex.encode(CPaceFunctions.lvCat(Array("1234".utf8))) == "0431323334")
        #expect(CPaceFunctions.lvCat(Array(0..<127)) == [0x7f] + Array(0..<127))
        #expect(CPaceFunctions.lvCat(Array(0..<128)) == [0x80, 0x01] + Array(0..<128))
        #expect(
            TextEncoding.hex.encode(
                CPaceFunctions.lvCat(Array("1234".utf8), Array("5".utf8), [], Array("678".utf8)))
                == "043132333401350003363738")
    }

    @Test("A.3.5: the initiator's message stands first in the transcript")
    func transcripts() {
        func transcript(_ a: String, _ b: String) -> String {
            TextEncoding.hex.encode(
                CPaceFunctions.transcript(
                    initiator: (Array(a.utf8), Array("PartyA".utf8)), responder: (Array(b.utf8), Array("PartyB".utf8))))
        }
        #expect(transcript("123", "234") == "03313233065061727479410332333406506172747942")
        #expect(transcript("3456", "2345") == "043334353606506172747941043233343506506172747942")
    }

    @Test("B.3.1: the generator string and the generator")
    func generators() throws {
        let text = CPaceFunctions.generatorString(
            password: password, channel: Array(channel.utf8), session: try bytes(session))
        #expect(text.count == 170)
        #expect(
            TextEncoding.hex.encode(text)
                == "11435061636552697374726574746f3235350850617373776f726464" + String(repeating: "0", count: 200)
                + "180b415f696e69746961746f720b425f726573706f6e646572107e4b4791d6a8ef019b936c79fb7f2c57")
        #expect(
            hex(
                CPaceFunctions.generator(
                    password: password, channel: Array(channel.utf8), session: try bytes(session))) == generator)
    }

    @Test("B.3.2 to B.3.5: shares, the secret point and the session key, step by step")
    func steps() throws {
        let generator = try #require(SecretBytes(bytes(generator)))
        let scalarA = try #require(CPaceFunctions.scalar(bytes(scalarA)))
        let scalarB = try #require(CPaceFunctions.scalar(bytes(scalarB)))
        #expect(CPaceFunctions.multiply(scalarA, generator: generator) == (try bytes(shareA)))
        #expect(CPaceFunctions.multiply(scalarB, generator: generator) == (try bytes(shareB)))
        let secretA = CPaceFunctions.multiplyVerified(scalarA, share: try bytes(shareB))
        #expect(hex(secretA) == point)
        #expect(hex(CPaceFunctions.multiplyVerified(scalarB, share: try bytes(shareA))) == point)
        let key = CPaceFunctions.sessionKey(
            session: try bytes(session), point: try #require(secretA),
            transcript: CPaceFunctions.transcript(
                initiator: (try bytes(shareA), Array("ADa".utf8)), responder: (try bytes(shareB), Array("ADb".utf8))))
        #expect(hex(key) == sessionKey)
    }

    @Test("B.3.5 through both sides as they are used")
    func whole() throws {
        let initiator = try CPaceInitiator(
            password: "Password", alias: channel, deviceID: "ADa", session: try base64url(session),
            randomness: try bytes(scalarA))
        #expect(initiator.share == (try base64url(shareA)))
        let responder = try CPaceResponder(
            password: "Password", alias: channel, sid: initiator.sid, deviceID: "ADa", deviceShare: initiator.share,
            desktopID: "ADb", randomness: try bytes(scalarB))
        #expect(responder.share == (try base64url(shareB)))
        #expect(hex(responder.key.bytes) == sessionKey)
        #expect(hex(try initiator.finish(desktopID: "ADb", share: responder.share).bytes) == sessionKey)
    }

    @Test("B.3.10 and B.3.11: a valid point is multiplied; one that does not decode, and the neutral one, are refused")
    func points() throws {
        let scalar = try #require(
            CPaceFunctions.scalar(bytes("7cd0e075fa7955ba52c02759a6c90dbbfc10e6d40aea8d283e407d88cf538a05")))
        let valid = try bytes("2c3c6b8c4f3800e7aef6864025b4ed79bd599117e427c41bd47d93d654b4a51c")
        let expected = "7c13645fe790a468f62c39beb7388e541d8405d1ade69d1778c5fe3e7f6b600e"
        #expect(hex(CPaceFunctions.multiplyVerified(scalar, share: valid)) == expected)
        #expect(CPaceFunctions.multiply(scalar, generator: try #require(SecretBytes(valid))) == (try bytes(expected)))
        let invalid = try bytes("2b3c6b8c4f3800e7aef6864025b4ed79bd599117e427c41bd47d93d654b4a51c")
        #expect(CPaceFunctions.multiplyVerified(scalar, share: invalid) == nil)
        #expect(CPaceFunctions.multiplyVerified(scalar, share: [UInt8](repeating: 0, count: 32)) == nil)
    }
}

@Suite struct CPaceTests {
    private let alias = "pairing-code:123456"
    private let session = TextEncoding.base64url.encode(Array(0..<16))

    init() throws { try Identity.start() }

    private func run(
        _ devicePassword: String = "789012", _ desktopPassword: String = "789012", deviceAlias: String? = nil,
        seenDeviceID: String = "did:a", seenDesktopID: String = "did:b", seenSession: String? = nil
    ) throws -> (device: CPaceKey, desktop: CPaceKey) {
        var generator = SecureRandomNumberGenerator()
        let device = try CPaceInitiator(
            password: devicePassword, alias: deviceAlias ?? alias, deviceID: "did:a", using: &generator)
        let desktop = try CPaceResponder(
            password: desktopPassword, alias: alias, sid: seenSession ?? device.sid, deviceID: seenDeviceID,
            deviceShare: device.share, desktopID: "did:b", using: &generator)
        return (try device.finish(desktopID: seenDesktopID, share: desktop.share), desktop.key)
    }

    private func code(_ work: () throws -> Void) -> CPaceError.Code? {
        do { try work() } catch let error as CPaceError { return error.code } catch { return nil }
        return nil
    }

    @Test("the same code on both sides gives the same key, once, and each side's confirmation is its own")
    func agree() throws {
        let (device, desktop) = try run()
        #expect(device.pairingSecret == desktop.pairingSecret)
        #expect(desktop.verifies(device.confirmation(of: .device), of: .device))
        #expect(device.verifies(desktop.confirmation(of: .desktop), of: .desktop))
        // Reflected.
        #expect(!device.verifies(device.confirmation(of: .device), of: .desktop))
        #expect(!desktop.verifies(desktop.confirmation(of: .desktop), of: .device))
        #expect(try run().device.pairingSecret != device.pairingSecret)
    }

    @Test("another code, alias, id or session on one side gives another key, and no confirmation verifies")
    func disagree() throws {
        let runs = [
            try run("789012", "789013"), try run("", "789012"), try run(deviceAlias: "pairing-code:123457"),
            try run(seenDeviceID: "did:evil"), try run(seenDesktopID: "did:evil"), try run(seenSession: session),
        ]
        for (device, desktop) in runs {
            #expect(device.pairingSecret != desktop.pairingSecret)
            #expect(!desktop.verifies(device.confirmation(of: .device), of: .device))
            #expect(!device.verifies(desktop.confirmation(of: .desktop), of: .desktop))
        }
    }

    @Test("a confirmation that was changed, cut, or is none does not verify")
    func confirmations() throws {
        let (device, desktop) = try run()
        let confirmation = device.confirmation(of: .device)
        let bytes = try #require(TextEncoding.base64url.decode(confirmation))
        #expect(bytes.count == 32)
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 0x80
            #expect(!desktop.verifies(TextEncoding.base64url.encode(changed), of: .device))
        }
        for text in [
            "", "A", String(confirmation.dropLast()), confirmation + "A", String(repeating: "A", count: 99_999),
        ] {
            #expect(!desktop.verifies(text, of: .device))
        }
    }

    @Test("a share that is no point, the neutral one, not canonical, or one's own ends the run with its name")
    func shares() throws {
        var generator = SecureRandomNumberGenerator()
        let device = try CPaceInitiator(password: "1", alias: alias, deviceID: "did:a", using: &generator)
        // RFC 9496, A.3: not canonical, negative, not on the curve; and the neutral element.
        let bad = [
            "00ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            "f3ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "0100000000000000000000000000000000000000000000000000000000000000",
            "26948d35ca62e643e26a83177332e6b6afeb9d08e4268b650f1f5bbd8d81d371",
            "0000000000000000000000000000000000000000000000000000000000000000",
        ].map { TextEncoding.base64url.encode(TextEncoding.hex.decode($0) ?? []) }
        let shapes = [
            "", "A", "=", String(repeating: "A", count: 42), String(repeating: "A", count: 99_999), device.share,
        ]
        for share in bad + shapes {
            #expect(code { _ = try device.finish(desktopID: "did:b", share: share) } == .invalidShare)
        }
        for share in bad + shapes.dropLast() {
            #expect(
                code {
                    _ = try CPaceResponder(
                        password: "1", alias: alias, sid: session, deviceID: "did:a", deviceShare: share,
                        desktopID: "did:b", using: &generator)
                } == .invalidShare)
        }
    }

    @Test("a session id of another length, and two sides with one id, are refused by name")
    func sessions() throws {
        var generator = SecureRandomNumberGenerator()
        let device = try CPaceInitiator(password: "1", alias: alias, deviceID: "did:a", using: &generator)
        for sid in [
            "", "AAAA", session + "A", String(repeating: "A", count: 43), "***", String(repeating: "A", count: 99_999),
        ] {
            #expect(
                code {
                    _ = try CPaceResponder(
                        password: "1", alias: alias, sid: sid, deviceID: "did:a", deviceShare: device.share,
                        desktopID: "did:b", using: &generator)
                } == .invalidSession)
        }
        #expect(code { _ = try device.finish(desktopID: "did:a", share: device.share) } == .samePeer)
    }

    @Test("randomness that is none is refused, not used")
    func noRandomness() {
        struct Zeros: RandomNumberGenerator {
            mutating func next() -> UInt64 { 0 }
        }
        var zeros = Zeros()
        #expect(
            code { _ = try CPaceInitiator(password: "1", alias: alias, deviceID: "a", using: &zeros) } == .noRandomness)
        #expect(CPaceFunctions.scalar([UInt8](repeating: 0, count: 31) + [0xf0]) == nil)
        #expect(CPaceFunctions.scalar([1]) == nil)
    }

    @Test("the same randomness gives the same run: nothing else is drawn")
    func deterministic() throws {
        struct Counter: RandomNumberGenerator {
            var value: UInt64 = 1
            mutating func next() -> UInt64 {
                value &*= 6_364_136_223_846_793_005
                return value >> 32
            }
        }
        var (first, second) = (Counter(), Counter())
        let one = try CPaceInitiator(password: "1", alias: alias, deviceID: "a", using: &first)
        let two = try CPaceInitiator(password: "1", alias: alias, deviceID: "a", using: &second)
        #expect(one.sid == two.sid && one.share == two.share)
        #expect(TextEncoding.base64url.decode(one.sid)?.count == 16)
    }
}
