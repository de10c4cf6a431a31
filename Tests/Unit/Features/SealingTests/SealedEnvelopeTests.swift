import Identity
import JSON
import Testing
import Wire

@testable import Sealing

@Suite struct SealedEnvelopeTests {
    private let nonce = String(repeating: "A", count: 32)
    private let box = String(repeating: "A", count: 44)

    private func code(_ payload: JSONObject) -> SealError.Code? {
        do throws(SealError) { _ = try SealedEnvelope(decoding: payload) } catch { return error.code }
        return nil
    }

    @Test("the frame is literally that of the protocol")
    func literal() throws {
        let envelope = SealedEnvelope(nonce: [UInt8](repeating: 0, count: 24), box: [UInt8](repeating: 0xff, count: 18))
        #expect(
            JSONValue.object(envelope.json).serialized()
                == #"{"type":"bellwire:sealed","payload":{"v":1,"nonce":"\#(nonce)","box":"////////////////////////"}}"#
                .replacingSlashes())
        #expect(try SealedEnvelope(decoding: envelope.json) == envelope)
    }

    @Test("it is read whole or by its inner payload, with fields that are unknown")
    func forms() {
        let inner: JSONObject = ["v": 1, "nonce": .string(nonce), "box": .string(box), "new": [1]]
        #expect(code(inner) == nil)
        #expect(code(["type": "bellwire:sealed", "payload": .object(inner), "bellwire": 2]) == nil)
        #expect(code(["type": "bellwire:hello", "payload": .object(inner)]) == .malformed)
        #expect(code(["type": "bellwire:sealed"]) == .malformed)
        #expect(code(["type": 3, "payload": .object(inner)]) == .malformed)
    }

    @Test("a field that is missing, of another type or another length is malformed")
    func malformed() {
        let good: JSONObject = ["v": 1, "nonce": .string(nonce), "box": .string(box)]
        let wrong: [JSONValue] = [
            nil, true, 7, -1, 1.5, "", "=", "A", "AAAA", .string(nonce + "A"), .string(nonce + "AAAA"), [], [:],
            .string(String(repeating: "A", count: 1_048_577)),
        ]
        for key in good.keys {
            var missing = good
            missing[key] = nil
            #expect(code(missing) == .malformed)
            for value in wrong where !(key == "box" && value.string?.utf8.count == 36) {
                var changed = good
                changed[key] = value
                if key == "v" && value == 1.5 { continue }
                #expect(code(changed) == .malformed, "\(key)")
            }
        }
        // A box of nothing but its overhead has no plaintext.
        #expect(
            code(["v": 1, "nonce": .string(nonce), "box": .string(String(repeating: "A", count: 22))]) == .malformed)
        #expect(code(["v": 2, "nonce": .string(nonce), "box": .string(box)]) == .malformed)
    }

    @Test(
        "each field of what was sealed that is missing, or of a wrong type, makes it malformed; the timestamp informs")
    func plaintext() throws {
        let good: JSONObject = [
            "from": "a", "to": "b", "epoch": 1, "seq": 2, "timestamp": 3, "body": ["type": "x"], "new": true,
        ]
        func read(_ object: JSONObject) -> SealedPlaintext? {
            try? SealedPlaintext(decoding: Array(JSONValue.object(object).serialized().utf8))
        }
        let plaintext = try #require(read(good))
        #expect(plaintext.from == "a")
        #expect(plaintext.timestamp == 3)
        #expect(
            String(decoding: plaintext.bytes, as: UTF8.self)
                == #"{"from":"a","to":"b","epoch":1,"seq":2,"timestamp":3,"body":{"type":"x"}}"#)
        #expect(try SealedPlaintext(decoding: plaintext.bytes) == plaintext)
        let wrong: [JSONValue?] = [nil, .null, true, -1, 0, 1.5, 1e300, "", [], "x"]
        for key in ["from", "to", "epoch", "seq", "body"] {
            for value in wrong where !((key == "from" || key == "to") && value == "x") {
                var changed = good
                changed[key] = value
                #expect(read(changed) == nil, "\(key) as \(String(describing: value))")
            }
        }
        for value in wrong {
            var changed = good
            changed["timestamp"] = value
            #expect(read(changed) != nil)
        }
        for text in ["", "[]", "7", "{", #"{"from":"a","from":"b"}"#, "null"] {
            #expect(throws: SealError.self) { try SealedPlaintext(decoding: Array(text.utf8)) }
        }
    }
}

extension String {
    /// base64url writes what base64 writes as `/` as `_`.
    fileprivate func replacingSlashes() -> String { String(map { $0 == "/" ? "_" : $0 }) }
}
