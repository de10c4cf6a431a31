import JSON
import TestSupport
import Testing

@testable import Wire

@Suite struct PairingPayloadTests {
    private static let now: EpochMilliseconds = 1_715_760_000_000

    private static let desktopOffer = #"""
        {"type":"desktop-pairing","code":"012345","pcPeerId":"12D3KooWQ","deviceInfo":{"name":"WORK-PC","platform":"win32",
        "version":"0.37.1"},"timestamp":1715760000000,"signalingUrl":"ws://192.168.1.5:9001","relayUrl":"wss://relay.example/ws",
        "iceServers":[{"urls":["stun:a","turn:b"],"username":"u","credential":"c"}],"iceExpiry":1715846400}
        """#

    private func object(_ text: String) throws -> JSONObject {
        try #require(try JSONValue(parsing: text).object)
    }

    private func reason(_ text: String, now: EpochMilliseconds = Self.now) -> PairingReason? {
        do throws(PairingFailure) { _ = try DesktopPairingOffer(parsing: text, now: now) } catch { return error.reason }
        return nil
    }

    @Test("a desktop's code is read whole")
    func desktopOfferLiteral() throws {
        let offer = try DesktopPairingOffer(parsing: Self.desktopOffer, now: Self.now)
        #expect(offer.code.digits == "012345")
        #expect(offer.pcPeerID == "12D3KooWQ")
        #expect(offer.deviceInfo == PairingDeviceInfo(name: "WORK-PC", platform: "win32", version: "0.37.1"))
        #expect(offer.timestamp == Self.now)
        #expect(offer.signalingURL == "ws://192.168.1.5:9001")
        #expect(offer.relayURL == "wss://relay.example/ws")
        #expect(offer.iceServersJSON == #"[{"urls":["stun:a","turn:b"],"username":"u","credential":"c"}]"#)
        #expect(offer.iceExpiry == 1_715_846_400)
        #expect(try DesktopPairingOffer(parsing: offer.serialized(), now: Self.now) == offer)
    }

    @Test("today's desktop: null for the local address, no ICE servers, no relay")
    func deployedDesktop() throws {
        let text = #"""
            {"type":"desktop-pairing","code":"000000","pcPeerId":"p","deviceInfo":{"name":"n","platform":"linux","version":"1"},
            "timestamp":1715760000000,"signalingUrl":null}
            """#
        let offer = try DesktopPairingOffer(parsing: text, now: Self.now)
        #expect(offer.signalingURL == nil)
        #expect(offer.relayURL == nil)
        #expect(offer.iceServersJSON == nil)
        #expect(offer.iceExpiry == nil)
    }

    @Test("each field of a desktop's code, missing and of each type")
    func desktopOfferFields() throws {
        check(
            try object(Self.desktopOffer),
            [
                (["type"], .required(.wrongType) { _ in false }),
                (["code"], .required(.badCode) { _ in false }),
                (["pcPeerId"], .required(.missingPeerID, isText)),
                (["timestamp"], .required(.badField, isNumber)),
                (["deviceInfo"], .required(.badField) { _ in false }),
                (["deviceInfo", "name"], .required(.badField, isText)),
                (["deviceInfo", "platform"], .required(.badField, isText)),
                (["deviceInfo", "version"], .optional), (["signalingUrl"], .optional), (["relayUrl"], .optional),
                (["iceServers"], .optional), (["iceExpiry"], .optional), (["unknown"], .optional),
            ]
        ) { (object) throws(PairingFailure) in
            // 7 is a time, in 1970; age is not what is tried here.
            let now = object["timestamp"]?.integer ?? Self.now
            _ = try DesktopPairingOffer(parsing: JSONValue.object(object).serialized(), now: now)
        }
    }

    @Test("an optional field of a wrong type or an unusable address is ignored, not taken")
    func ignoredOptionals() throws {
        var fields = try object(Self.desktopOffer)
        for wrong: JSONValue in [
            true, 7, "http://x", "ws:/x", "ws://a b", "ws://\u{7f}", "", [],
            .string("ws://" + String(repeating: "x", count: 3_000)),
        ] {
            fields["signalingUrl"] = wrong
            fields["relayUrl"] = wrong
            let offer = try DesktopPairingOffer(parsing: JSONValue.object(fields).serialized(), now: Self.now)
            #expect(offer.signalingURL == nil)
            #expect(offer.relayURL == nil)
        }
        for wrong: JSONValue in [true, 7, "x", [:], .array(Array(repeating: "0123456789", count: 10_000))] {
            fields["iceServers"] = wrong
            #expect(
                try DesktopPairingOffer(parsing: JSONValue.object(fields).serialized(), now: Self.now).iceServersJSON
                    == nil)
        }
        for wrong: JSONValue in [true, "7", 0, -1, [:]] {
            fields["iceExpiry"] = wrong
            #expect(
                try DesktopPairingOffer(parsing: JSONValue.object(fields).serialized(), now: Self.now).iceExpiry == nil)
        }
    }

    @Test("the first check that fails names the reason, in the order of the protocol")
    func order() {
        #expect(reason("hello") == .notJSON)
        #expect(reason("") == .notJSON)
        #expect(reason("[]") == .notJSON)
        #expect(reason(#"{"type":"x","type":"y"}"#) == .notJSON)
        #expect(reason(String(repeating: " ", count: 2_000_000)) == .notJSON)
        #expect(reason("{}") == .wrongType)
        #expect(reason(#"{"type":"device-pairing","code":"1"}"#) == .wrongType)
        #expect(reason(#"{"type":"desktop-pairing"}"#) == .badCode)
        #expect(reason(#"{"type":"desktop-pairing","code":"123456"}"#) == .missingPeerID)
        #expect(reason(#"{"type":"desktop-pairing","code":"123456","pcPeerId":""}"#) == .missingPeerID)
        #expect(reason(#"{"type":"desktop-pairing","code":"123456","pcPeerId":"p"}"#) == .badField)
        #expect(reason(#"{"type":"desktop-pairing","code":"123456","pcPeerId":"p","timestamp":1}"#) == .badField)
        #expect(
            reason(
                #"{"type":"desktop-pairing","code":"123456","pcPeerId":"p","timestamp":1,"deviceInfo":{"name":"n","platform":"x"}}"#
            )
                == .expired)
    }

    @Test(
        "a code is six ASCII digits and nothing else",
        arguments: ["", "12345", "1234567", "12345a", " 12345", "12345\n", "-12345", "１２３４５６", "٠١٢٣٤٥", "1234\u{0}6"])
    func badCodes(code: String) {
        #expect(PairingCode(code) == nil)
    }

    @Test("an id that no relay could address is a bad field")
    func unusablePeerIDs() throws {
        var fields = try object(Self.desktopOffer)
        for id in [String(repeating: "x", count: 257), "a b", "a\nb", "a\u{7f}", "a\u{202E}b"] {
            fields["pcPeerId"] = .string(id)
            #expect(reason(JSONValue.object(fields).serialized()) == .badField)
        }
    }

    @Test(
        "a code lives five minutes by the clock handed in; a clock that runs behind does no harm, nor do absurd times")
    func expiry() throws {
        #expect(reason(Self.desktopOffer, now: Self.now + 300_000) == nil)
        #expect(reason(Self.desktopOffer, now: Self.now + 300_001) == .expired)
        #expect(reason(Self.desktopOffer, now: Self.now + 301_000) == .expired)
        #expect(reason(Self.desktopOffer, now: Self.now - 3_600_000) == nil)
        var fields = try object(Self.desktopOffer)
        for (time, expected) in [(Int64.min, PairingReason.expired), (.max, nil)] {
            fields["timestamp"] = .integer(time)
            #expect(reason(JSONValue.object(fields).serialized()) == expected)
        }
        fields["timestamp"] = .double(1e300)
        #expect(reason(JSONValue.object(fields).serialized()) == .badField)
    }

    @Test("codes are drawn evenly, leading zeros included, from the randomness handed in")
    func codes() {
        var generator = SeededGenerator(seed: 1)
        var leadingZeros = 0
        for _ in 0..<10_000 {
            let code = PairingCode(using: &generator)
            #expect(PairingCode(code.digits) == code)
            if code.digits.hasPrefix("0") { leadingZeros += 1 }
        }
        #expect((850...1_150).contains(leadingZeros))
        var again = SeededGenerator(seed: 1)
        var first = SeededGenerator(seed: 1)
        #expect(PairingCode(using: &again) == PairingCode(using: &first))
    }

    @Test("each field of an ack, missing and of each type")
    func ackFields() throws {
        let ack = try object(
            #"""
            {"type":"pair-ack","pairingCode":"000042","mobileDid":"did:key:z6Mk","deviceInfo":{"deviceId":"i-1",
            "name":"Phone","platform":"ios"},"timestamp":1715760000000}
            """#)
        check(
            ack,
            [
                (["type"], .required(.wrongType) { _ in false }),
                (["pairingCode"], .required(.badCode) { _ in false }),
                (["mobileDid"], .required(.missingPeerID, isText)),
                (["deviceInfo"], .required(.badField) { _ in false }),
                (["deviceInfo", "deviceId"], .required(.badField, isText)),
                (["deviceInfo", "name"], .required(.badField, isText)),
                (["deviceInfo", "platform"], .required(.badField, isText)),
                (["timestamp"], .optional), (["unknown"], .optional),
            ]
        ) { (object) throws(PairingFailure) in _ = try PairAck(decoding: object) }
        let read = try PairAck(decoding: ack)
        #expect(read.mobileDID == "did:key:z6Mk")
        #expect(read.deviceInfo == PairingDeviceInfo(deviceID: "i-1", name: "Phone", platform: "ios"))
        #expect(read.json == .object(ack))
    }

    @Test("ids and platform of an ack match what deployed desktops allow")
    func ackCharacters() {
        for good in ["", "a", "did:key:z6Mk_A.b#c@d-9", String(repeating: "x", count: 256)] {
            #expect(PairAck.isPlain(good))
        }
        for bad in [" ", "a b", "a/b", "é", "a\n", "<b>", "a\u{0}", String(repeating: "x", count: 257)] {
            #expect(!PairAck.isPlain(bad))
            let info: JSONValue = ["deviceId": "i", "name": "n", "platform": .string(bad)]
            let ack: JSONObject = ["type": "pair-ack", "pairingCode": "000000", "mobileDid": "d", "deviceInfo": info]
            #expect(throws: PairingFailure.self) { try PairAck(decoding: ack) }
        }
    }

    @Test("each field of a confirmation and of a rejection, missing and of each type")
    func confirmationFields() throws {
        let confirmation = try object(
            #"{"type":"pairing:confirmation","pairingCode":"000042","pcPeerId":"desktop-unknown","deviceInfo":{"name":"PC","platform":"win32"},"timestamp":1}"#
        )
        check(
            confirmation,
            [
                (["type"], .required(.wrongType) { _ in false }), (["pairingCode"], .required(.badCode) { _ in false }),
                (["pcPeerId"], .optional), (["deviceInfo"], .optional), (["deviceInfo", "name"], .optional),
                (["deviceInfo", "platform"], .optional), (["timestamp"], .optional),
            ]
        ) { (object) throws(PairingFailure) in _ = try PairingConfirmation(decoding: object) }
        #expect(try PairingConfirmation(decoding: confirmation).json == .object(confirmation))
        let reject = try object(#"{"type":"pairing:reject","pairingCode":"000042"}"#)
        check(reject, [(["type"], .required(.wrongType) { _ in false }), (["pairingCode"], .optional)]) {
            (object) throws(PairingFailure) in _ = try PairingReject(decoding: object)
        }
        #expect(try PairingReject(decoding: reject).json == .object(reject))
        var failed = reject
        failed["reason"] = "store_failed"
        #expect(
            try PairingReject(decoding: failed).isStoreFailure
                && PairingReject(decoding: failed).json == .object(failed))
        failed["reason"] = ["store_failed"]
        #expect(try !PairingReject(decoding: failed).isStoreFailure)
    }

    @Test("each field of a device's code, missing and of each type")
    func deviceOfferFields() throws {
        let text = #"""
            {"type":"device-pairing","code":"000042","did":"did:key:z6Mk","deviceInfo":{"deviceId":"i-1","name":"Phone",
            "platform":"android"},"timestamp":1715760000000}
            """#
        check(
            try object(text),
            [
                (["type"], .required(.wrongType) { _ in false }), (["code"], .required(.badCode) { _ in false }),
                (["did"], .required(.missingPeerID, isText)), (["deviceInfo"], .required(.badField) { _ in false }),
                (["deviceInfo", "name"], .required(.badField, isText)),
                (["deviceInfo", "platform"], .required(.badField, isText)), (["deviceInfo", "deviceId"], .optional),
            ]
        ) { (object) throws(PairingFailure) in
            _ = try DevicePairingOffer(parsing: JSONValue.object(object).serialized(), now: Self.now)
        }
        let offer = try DevicePairingOffer(parsing: text, now: Self.now)
        #expect(try DevicePairingOffer(parsing: offer.serialized(), now: Self.now) == offer)
        #expect(throws: PairingFailure(.expired)) {
            try DevicePairingOffer(parsing: text, now: Self.now + 300_001)
        }
    }

    @Test("each field of an ICE configuration, missing and of each type; the servers are kept as text")
    func iceConfigFields() throws {
        let payload = try object(
            #"{"pcPeerId":"p","iceServers":[{"urls":"stun:a","x":{"y":[1,2.5,null]}}],"iceExpiry":1715846400,"timestamp":1}"#
        )
        check(
            payload,
            [
                (["iceServers"], .required(.badField) { $0.array != nil }), (["pcPeerId"], .optional),
                (["iceExpiry"], .optional), (["timestamp"], .optional),
            ]
        ) { (object) throws(PairingFailure) in _ = try ICEConfig(payload: object) }
        let config = try ICEConfig(payload: payload)
        #expect(config.iceServersJSON == #"[{"urls":"stun:a","x":{"y":[1,2.5,null]}}]"#)
        #expect(config.json == ["type": "chainlesschain:ice:config", "payload": .object(payload)])
    }

    @Test("names are one clean line of bounded length, whatever was sent")
    func names() {
        #expect(DisplayText.clean("  WORK \t\r\n PC\u{0}  ") == "WORK PC")
        #expect(DisplayText.clean("a\u{202E}b\u{2066}c\u{200B}d\u{FEFF}") == "abcd")
        #expect(DisplayText.clean("a\u{2028}b\u{85}c\u{1B}[31md") == "a b c [31md")
        #expect(DisplayText.clean("Zoë 👩‍👧 日本") == "Zoë 👩‍👧 日本")
        #expect(DisplayText.clean("<b>PC</b>") == "<b>PC</b>")
        #expect(DisplayText.clean(String(repeating: "x", count: 100_000)).unicodeScalars.count == 80)
        #expect(DisplayText.clean(String(repeating: "e\u{301}", count: 100_000)).unicodeScalars.count == 80)
        #expect(DisplayText.clean("a" + String(repeating: "\u{301}", count: 100_000)).unicodeScalars.count == 80)
        #expect(DisplayText.clean(String(repeating: "\u{0}", count: 1_000_000)).isEmpty)
        #expect(DisplayText.clean("abc", limit: 0).isEmpty)
        #expect(DisplayText.clean("abc", limit: -1).isEmpty)
        #expect(DisplayText.clean("ab cd", limit: 3) == "ab")
    }

    @Test("every reason has a message that ends in what to do, and a failure repeats no code")
    func messages() {
        #expect(Set(PairingReason.allCases.map(\.message)).count == PairingReason.allCases.count)
        for reason in PairingReason.allCases {
            #expect(reason.message.hasSuffix("."))
            #expect(reason.message.contains(". "))
        }
        let text = #"{"type":"desktop-pairing","code":"123456","pcPeerId":7}"#
        do throws(PairingFailure) { _ = try DesktopPairingOffer(parsing: text, now: 0) } catch {
            #expect(!error.message.contains("123456"))
            #expect(error.message.contains("pcPeerId"))
        }
    }
}
