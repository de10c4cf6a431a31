import JSON
import Testing

@testable import Wire

@Suite struct PushTokenTests {
    private func statement(_ type: String, _ json: String) throws -> PushTokenStatement? {
        PushTokenStatement(
            type: type, payload: try #require(try JSONValue(parsing: json).object), of: ["bw-1", "did:1"])
    }

    @Test("a token's bytes become lower-case hex, whatever they are")
    func bytes() throws {
        let bytes: [UInt8] = [0, 9, 10, 15, 16, 127, 128, 255]
        #expect(bytes.withUnsafeBytes { PushToken($0) }?.hex == "00090a0f107f80ff")
        #expect([UInt8]().withUnsafeBytes { PushToken($0) } == nil)
        let most = [UInt8](repeating: 7, count: PushToken.maximumBytes)
        #expect(most.withUnsafeBytes { PushToken($0) }?.hex.utf8.count == 8_192)
        #expect((most + [7]).withUnsafeBytes { PushToken($0) } == nil)
        #expect(PushToken(hex: "00090A0F107f80FF") == bytes.withUnsafeBytes { PushToken($0) })
    }

    @Test(
        "hex that is none is refused",
        arguments: [
            "", "0", "0g", "0x10", " 00", "00 ", "ａａ", "00\u{0}0", "--", String(repeating: "0", count: 8_194),
        ])
    func hex(_ text: String) { #expect(PushToken(hex: text) == nil) }

    @Test("a service is 1 to 64 letters, digits, dots, dashes and underscores")
    func service() {
        for text in ["fcm", "a", "apns.voip-2_X", String(repeating: "s", count: 64)] {
            #expect(PushService(text)?.text == text)
        }
        for text in ["", "f c", "fcm\n", "é", "a/b", "'; DROP", String(repeating: "s", count: 65)] {
            #expect(PushService(text) == nil)
        }
    }

    @Test("the two literal frames of a push token, both ways")
    func frames() throws {
        let given = try #require(
            try statement("bellwire:token", #"{"service":"fcm","token":"0aFF","deviceId":"bw-1"}"#))
        #expect(given.service.text == "fcm" && given.token?.hex == "0aff")
        #expect(
            given.json(deviceID: "bw-1").serialized()
                == #"{"type":"bellwire:token","payload":{"service":"fcm","token":"0aff","deviceId":"bw-1"}}"#)
        let removed = try #require(
            try statement("bellwire:token.remove", #"{"service":"fcm","deviceId":"did:1","more":[]}"#))
        #expect(removed.token == nil)
        #expect(
            removed.json(deviceID: "bw-1").serialized()
                == #"{"type":"bellwire:token.remove","payload":{"service":"fcm","deviceId":"bw-1"}}"#)
    }

    @Test(
        "what is malformed, or speaks of another device, is none",
        arguments: [
            "{}", #"{"service":"fcm","token":"00"}"#, #"{"service":"fcm","token":"00","deviceId":"bw-2"}"#,
            #"{"service":"","token":"00","deviceId":"bw-1"}"#, #"{"service":"fcm","token":"0","deviceId":"bw-1"}"#,
            #"{"service":"fcm","token":7,"deviceId":"bw-1"}"#, #"{"service":7,"token":"00","deviceId":"bw-1"}"#,
            #"{"service":"fcm","token":"00","deviceId":["bw-1"]}"#,
            #"{"service":"fcm","token":null,"deviceId":"bw-1"}"#,
        ])
    func malformed(_ json: String) throws { #expect(try statement("bellwire:token", json) == nil) }

    @Test("a receipt, both ways; and what is none")
    func receipt() throws {
        let text = #"{"type":"bellwire:receipt","payload":{"id":"n-1","presented":true,"at":1735689600000}}"#
        let receipt = PushReceipt(id: "n-1", isPresented: true, at: 1_735_689_600_000)
        #expect(receipt.json.serialized() == text)
        let fields = try #require(try JSONValue(parsing: text)["payload"]?.object)
        #expect(PushReceipt(payload: fields) == receipt)
        let long = String(repeating: "x", count: 1_025)
        for json in [
            "{}", #"{"id":"","presented":true,"at":1}"#, #"{"id":"n","presented":1,"at":1}"#,
            #"{"id":"n","presented":true}"#, #"{"id":"n","presented":true,"at":"1"}"#,
            #"{"id":5,"presented":true,"at":1}"#,
            #"{"id":"n","presented":true,"at":1e300}"#, #"{"id":"\#(long)","presented":true,"at":1}"#,
        ] {
            #expect(PushReceipt(payload: try #require(try JSONValue(parsing: json).object)) == nil)
        }
    }
}
