import JSON
import TestSupport
import Testing

@testable import Wire

@Suite struct PairingSealTests {
    private static let now: EpochMilliseconds = 1_715_760_000_000
    private static let secret = "AAECAwQFBgcICQoLDA0ODw"

    private static let desktopOffer = #"""
        {"type":"desktop-pairing","code":"012345","pcPeerId":"did:key:zPC","deviceInfo":{"name":"PC","platform":"linux"},
        "timestamp":1715760000000,"bw":{"v":1,"secret":"AAECAwQFBgcICQoLDA0ODw","confirm":true}}
        """#
    private static let deviceOffer = #"""
        {"type":"device-pairing","code":"012345","did":"did:key:zPhone","deviceInfo":{"deviceId":"i-1","name":"Phone",
        "platform":"linux"},"timestamp":1715760000000,"bw":{"v":1,"secret":"AAECAwQFBgcICQoLDA0ODw"}}
        """#

    private func object(_ text: String) throws -> JSONObject { try #require(try JSONValue(parsing: text).object) }

    @Test("the seal of either code is read and written whole")
    func whole() throws {
        let desktop = try DesktopPairingOffer(parsing: Self.desktopOffer, now: Self.now)
        #expect(desktop.seal == PairingSeal(secret: Self.secret, confirm: true))
        #expect(try DesktopPairingOffer(parsing: desktop.serialized(), now: Self.now) == desktop)
        let device = try DevicePairingOffer(parsing: Self.deviceOffer, now: Self.now)
        #expect(device.seal == PairingSeal(secret: Self.secret))
        #expect(try DevicePairingOffer(parsing: device.serialized(), now: Self.now) == device)
        #expect(device.serialized().hasSuffix(#""bw":{"v":1,"secret":"AAECAwQFBgcICQoLDA0ODw"}}"#))
    }

    @Test("a code without a seal is a plain one; null is none")
    func plain() throws {
        for value in [nil, JSONValue.null] {
            let desktop = setting(["bw"], of: try object(Self.desktopOffer), to: value)
            let text = JSONValue.object(desktop).serialized()
            #expect(try DesktopPairingOffer(parsing: text, now: Self.now).seal == nil)
        }
        var offer = try DesktopPairingOffer(parsing: Self.desktopOffer, now: Self.now)
        offer.seal = nil
        #expect(!offer.serialized().contains("bw"))
    }

    private static var seal: [([String], Demand)] {
        [
            (["bw", "v"], .required(.badField) { _ in false }),
            (["bw", "secret"], .required(.badField) { _ in false }),
            (["bw", "confirm"], .optional), (["bw", "unknown"], .optional),
        ]
    }

    @Test("each field of a seal, missing and of each type: a seal that cannot be read is never taken for none")
    func fields() throws {
        check(try object(Self.desktopOffer), Self.seal) { (object) throws(PairingFailure) in
            _ = try DesktopPairingOffer(parsing: JSONValue.object(object).serialized(), now: Self.now)
        }
        check(try object(Self.deviceOffer), Self.seal) { (object) throws(PairingFailure) in
            _ = try DevicePairingOffer(parsing: JSONValue.object(object).serialized(), now: Self.now)
        }
        let wrong: [JSONValue] = [
            true, 7, 7.5, "text", [], [:], ["v": 2, "secret": .string(Self.secret)],
            ["v": 1.5, "secret": .string(Self.secret)], ["v": 1, "secret": ""],
            ["v": 1, "secret": .string(Self.secret + "A")], ["v": 1, "secret": .string(Self.secret.dropLast() + "=")],
            ["v": 1, "secret": .string(Self.secret.dropLast() + "+")],
        ]
        for bw in wrong {
            let text = JSONValue.object(setting(["bw"], of: try object(Self.desktopOffer), to: bw)).serialized()
            do throws(PairingFailure) {
                _ = try DesktopPairingOffer(parsing: text, now: Self.now)
                Issue.record("read: \(bw.serialized())")
            } catch {
                #expect(error.reason == .badField)
                #expect(error.detail?.hasPrefix("bw") == true)
                #expect(!error.message.contains(Self.secret))
            }
        }
    }

    @Test("the proof of an ack and of a confirmation is optional in every type, and kept as it came")
    func proofs() throws {
        let ack = try object(
            #"""
            {"type":"pair-ack","pairingCode":"000042","mobileDid":"did:key:z6Mk","deviceInfo":{"deviceId":"i-1",
            "name":"Phone","platform":"ios"},"timestamp":1,"bw":{"mac":"abc"}}
            """#)
        let confirmation = try object(
            #"""
            {"type":"pairing:confirmation","pairingCode":"000042","pcPeerId":"did:key:zPC","deviceInfo":{"name":"PC",
            "platform":"linux"},"timestamp":1,"bw":{"mac":"abc"}}
            """#)
        let demands: [([String], Demand)] = [(["bw"], .optional), (["bw", "mac"], .optional)]
        check(ack, demands) { (object) throws(PairingFailure) in _ = try PairAck(decoding: object) }
        check(confirmation, demands) { (object) throws(PairingFailure) in
            _ = try PairingConfirmation(decoding: object)
        }
        #expect(try PairAck(decoding: ack).mac == "abc")
        #expect(try PairAck(decoding: ack).json == .object(ack))
        #expect(try PairingConfirmation(decoding: confirmation).mac == "abc")
        #expect(try PairingConfirmation(decoding: confirmation).json == .object(confirmation))
        #expect(try PairAck(decoding: setting(["bw", "mac"], of: ack, to: 7)).mac == nil)
    }

    @Test("the revision of a desktop's code, and the commitments and random bytes of frames, only with a revision")
    func revisions() throws {
        let commitment = String(repeating: "A", count: 43)
        let bw = #""bw":{"v":1,"secret":"AAECAwQFBgcICQoLDA0ODw","rev":1}}"#
        var offer = try DesktopPairingOffer(parsing: Self.desktopOffer, now: Self.now)
        #expect(offer.seal?.hasRevision == false)
        offer.seal = PairingSeal(secret: Self.secret, hasRevision: true)
        #expect(offer.serialized().hasSuffix(bw))
        #expect(try DesktopPairingOffer(parsing: offer.serialized(), now: Self.now) == offer)
        for bad in [0, -1, 1.5, "1", true] as [JSONValue] {
            let changed = setting(["bw", "rev"], of: try object(Self.desktopOffer), to: bad)
            #expect(throws: PairingFailure.self) {
                try DesktopPairingOffer(parsing: JSONValue.object(changed).serialized(), now: Self.now)
            }
        }

        let ack = try object(
            #"""
            {"type":"pair-ack","pairingCode":"000042","mobileDid":"did:key:z6Mk","deviceInfo":{"deviceId":"i-1",
            "name":"Phone","platform":"ios"},"timestamp":1,"bw":{"mac":"abc","rev":1,"commit":"\#(commitment)","random":"R"}}
            """#)
        let read = try PairAck(decoding: ack)
        #expect(read.commitment == commitment && read.random == "R" && read.json == .object(ack))
        for rev in [nil, 0, "1"] as [JSONValue?] {
            let older = try PairAck(decoding: setting(["bw", "rev"], of: ack, to: rev))
            #expect(older.commitment == nil && older.random == nil)
        }

        let challenge = try object(
            #"""
            {"v":1,"pairingCode":"000042","timestamp":7,"bw":{"mac":"abc","rev":1,"random":"R"}}
            """#)
        let asked = try PairingChallenge(payload: challenge)
        #expect(asked.mac == "abc" && asked.random == "R" && asked.code.digits == "000042" && asked.timestamp == 7)
        #expect(asked.json == ["type": "bellwire:challenge", "payload": .object(challenge)])
        for path in [["v"], ["pairingCode"], ["timestamp"], ["bw"], ["bw", "mac"], ["bw", "rev"], ["bw", "random"]] {
            for bad in [nil, .null, true, [], [:]] as [JSONValue?] {
                #expect(throws: PairingFailure.self) {
                    try PairingChallenge(payload: setting(path, of: challenge, to: bad))
                }
            }
        }
        #expect(PairingProofs.isCarried(by: asked.json.object ?? [:]))
        #expect(!PairingProofs.isCarried(by: ["type": "bellwire:challenge", "payload": [:]]))
    }

    @Test("a device's id that no desktop would take in an ack is none")
    func deviceID() throws {
        for bad in [String(repeating: "x", count: 257), "a b", "<b>", "a\u{0}"] {
            let changed = setting(["deviceInfo", "deviceId"], of: try object(Self.deviceOffer), to: .string(bad))
            let offer = try DevicePairingOffer(parsing: JSONValue.object(changed).serialized(), now: Self.now)
            #expect(offer.deviceInfo.deviceID == nil)
        }
    }

    // MARK: CPace and hello

    private static let bytes16 = "AAECAwQFBgcICQoLDA0ODw"
    private static let bytes32 = String(repeating: "A", count: 43)

    private static let steps: [PairingExchange.Step] = [
        .deviceShare(did: "did:key:zA", share: bytes32), .desktopShare(did: "did:key:zB", share: bytes32),
        .deviceConfirm(bytes32), .desktopConfirm(bytes32),
    ]

    @Test("the four steps of CPace, literally, and each is read again")
    func exchange() throws {
        let texts = Self.steps.map { PairingExchange(sid: Self.bytes16, step: $0).json.serialized() }
        let head = #"{"type":"bellwire:pake","payload":{"v":1,"step":"#
        let sid = #","sid":"\#(Self.bytes16)""#
        #expect(
            texts == [
                head + #"1\#(sid),"did":"did:key:zA","share":"\#(Self.bytes32)"}}"#,
                head + #"2\#(sid),"did":"did:key:zB","share":"\#(Self.bytes32)"}}"#,
                head + #"3\#(sid),"confirm":"\#(Self.bytes32)"}}"#, head + #"4\#(sid),"confirm":"\#(Self.bytes32)"}}"#,
            ])
        for (text, step) in zip(texts, Self.steps) {
            guard case .bellwire("bellwire:pake", let inner) = Payload(decoding: try JSONValue(parsing: text)) else {
                Issue.record("not read")
                continue
            }
            #expect(try PairingExchange(payload: inner) == PairingExchange(sid: Self.bytes16, step: step))
        }
    }

    @Test("each field of each step of CPace, missing and of each type", arguments: 0..<4)
    func exchangeFields(step: Int) throws {
        let whole = PairingExchange(sid: Self.bytes16, step: Self.steps[step]).json
        let payload = try #require(whole["payload"]?.object)
        var demands: [([String], Demand)] = [
            (["v"], .required(.badField) { _ in false }), (["step"], .required(.badField) { _ in false }),
            (["sid"], .required(.badField) { _ in false }), (["unknown"], .optional),
        ]
        if step < 2 {
            demands.append((["did"], .required(.missingPeerID, isText)))
            demands.append((["share"], .required(.badField) { _ in false }))
        } else {
            demands.append((["confirm"], .required(.badField) { _ in false }))
        }
        check(payload, demands) { (object) throws(PairingFailure) in _ = try PairingExchange(payload: object) }
        for wrong: JSONValue in [0, 5, -1, "1", 1.5, 9_223_372_036_854_775_807] {
            #expect(throws: PairingFailure.self) {
                try PairingExchange(payload: setting(["step"], of: payload, to: wrong))
            }
        }
    }

    @Test("each field of a hello, missing and of each type")
    func hello() throws {
        let payload = try #require(PairingHello(lastPushSeq: 7).json["payload"]?.object)
        check(payload, [(["v"], .required(.badField) { _ in false }), (["lastPushSeq"], .optional)]) {
            (object) throws(PairingFailure) in _ = try PairingHello(payload: object)
        }
        #expect(
            PairingHello(lastPushSeq: 7).json.serialized()
                == #"{"type":"bellwire:hello","payload":{"v":1,"lastPushSeq":7}}"#)
        #expect(try PairingHello(payload: payload).lastPushSeq == 7)
        #expect(try PairingHello(payload: setting(["lastPushSeq"], of: payload, to: -7)).lastPushSeq == 0)
    }

    // MARK: Typed codes

    @Test(
        "what a person types: spaces and dashes wherever they like",
        arguments: [
            ("123456", "123456"), (" 123 456\n", "123456"), ("000-000", "000000"), ("123456-789012", "123456-789012"),
            ("123456789012", "123456-789012"), ("123456 789012", "123456-789012"),
            ("123 456 – 789 012", "123456-789012"), ("\t12-34-56-78-90-12 ", "123456-789012"),
            ("123456\u{00A0}—\u{2009}789012", "123456-789012"),
        ])
    func typed(text: String, expected: String) throws {
        let code = try PairingTypedCode(parsing: text)
        #expect(code.text == expected)
        #expect(code.nameplate.digits == String(expected.prefix(6)))
        #expect(code.alias.text == "pairing-code:\(expected.prefix(6))")
        #expect(try PairingTypedCode(parsing: code.text) == code)
    }

    @Test(
        "what is no typed code",
        arguments: [
            "", " ", "-", "12345", "1234567", "12345678901", "1234567890123", "12345a", "123456_789012",
            "123456+789012",
            "１２３４５６", "٠١٢٣٤٥", "123456\u{0}", "1.23456", String(repeating: "1", count: 100_000),
            String(repeating: " ", count: 100_000) + "123456",
        ])
    func notTyped(text: String) {
        do throws(PairingFailure) {
            _ = try PairingTypedCode(parsing: text)
            Issue.record("read")
        } catch {
            #expect(error == PairingFailure(.badCode))
        }
    }

    @Test("a new typed code has twelve digits out of the randomness that is handed in")
    func newCode() {
        var generator = SeededGenerator(seed: 5)
        let code = PairingTypedCode(using: &generator)
        #expect(code.text.utf8.count == 13)
        #expect(PairingTypedCode(using: &generator) != code)
    }
}
