import JSON
import Testing

@testable import Wire

@Suite struct SignallingFrameTests {
    private func decode(_ text: String) throws -> SignallingFrame {
        var text = text
        let result: Result<SignallingFrame, SignallingFrameError> = text.withUTF8 { bytes in
            do throws(SignallingFrameError) {
                return .success(try SignallingFrame(parsing: UnsafeRawBufferPointer(bytes)))
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    private func code(_ text: String) -> SignallingFrameError.Code? {
        do { _ = try decode(text) } catch { return (error as? SignallingFrameError)?.code }
        return nil
    }

    @Test("each literal frame of a relay is read")
    func literalFrames() throws {
        #expect(
            try decode(#"{"type":"registered","peerId":"did:key:zA","serverTime":1715760000000,"isReconnect":true}"#)
                == .registered(.init(peerID: "did:key:zA", serverTime: 1_715_760_000_000, isReconnect: true)))
        #expect(try decode(#"{"type":"registered"}"#) == .registered(.init(peerID: nil)))
        #expect(
            try decode(#"{"type":"message","from":"pc","payload":{"a":1},"timestamp":17}"#)
                == .message(.init(from: "pc", payload: ["a": 1], timestamp: 17)))
        #expect(
            try decode(#"{"type":"peer-offline","peerId":"pc","messageId":"m1","messageType":"message","timestamp":1}"#)
                == .peerOffline(.init(peerID: "pc", messageType: "message")))
        #expect(
            try decode(#"{"type":"peer-status","peerId":"pc","status":"online","deviceType":"desktop"}"#)
                == .peerStatus(.init(peerID: "pc", isOnline: true)))
        #expect(
            try decode(#"{"type":"peer-status","peerId":"pc","status":"offline"}"#)
                == .peerStatus(.init(peerID: "pc", isOnline: false)))
        #expect(
            try decode(
                #"{"type":"peer-status","peerId":"pc","status":"online","deviceInfo":{"name":"Office PC"},"timestamp":1}"#
            )
                == .peerStatus(.init(peerID: "pc", isOnline: true, deviceInfo: ["name": "Office PC"])))
        #expect(
            try decode(
                #"{"type":"peers-list","peers":[{"peerId":"pc","deviceInfo":{"name":"Office PC"}},{"peerId":7},1],"count":3}"#
            )
                == .peersList(["pc": ["name": "Office PC"]]))
        #expect(try decode(#"{"type":"ping"}"#) == .ping)
        #expect(try decode(#"{"type":"pong","timestamp":1.5e3}"#) == .pong(timestamp: 1_500))
        #expect(try decode(#"{"type":"error","error":"no such peer","timestamp":1}"#) == .error("no such peer"))
        #expect(try decode(#"{"type":"server-shutdown","message":"bye"}"#) == .serverShutdown)
        for type in ["offer-pending", "peer-status-response", "tomorrow"] {
            #expect(try decode(#"{"type":"\#(type)","peerId":7}"#) == .other(type: type))
        }
    }

    @Test("a payload stays as it came, object or text, and its form is told")
    func payloadForms() throws {
        guard case .message(let object) = try decode(#"{"type":"message","from":"pc","payload":{"type":"x"}}"#),
            case .message(let text) = try decode(#"{"type":"message","from":"pc","payload":"{\"type\":\"x\"}"}"#),
            case .message(let neither) = try decode(#"{"type":"message","from":"pc","payload":[1]}"#)
        else {
            Issue.record("not a message")
            return
        }
        #expect(object.payloadForm == .object)
        #expect(text.payloadForm == .text)
        #expect(text.payload == .string(#"{"type":"x"}"#))
        #expect(neither.payloadForm == nil)
    }

    @Test("a stored frame is unwrapped, a message as well as a routed one, as object or as text")
    func stored() throws {
        let message = #"{"type":"message","to":"me","from":"pc","payload":"p","timestamp":5}"#
        let expected = SignallingFrame.Stored(
            original: .message(.init(to: "me", from: "pc", payload: "p", timestamp: 5)), storedAt: 6, deliveredAt: 7)
        #expect(
            try decode(#"{"type":"offline-message","originalMessage":\#(message),"storedAt":6,"deliveredAt":7}"#)
                == .offlineMessage(expected))
        let asText = JSONValue.string(message).serialized()
        #expect(
            try decode(#"{"type":"offline-message","originalMessage":\#(asText),"storedAt":6,"deliveredAt":7}"#)
                == .offlineMessage(expected))
        guard
            case .offlineMessage(let routed) = try decode(
                #"{"type":"offline-message","originalMessage":{"type":"pairing:confirmation","from":"pc","pairingCode":"000001"}}"#
            ),
            case .routed(let frame) = routed.original
        else {
            Issue.record("not a routed frame")
            return
        }
        #expect(routed.storedAt == nil)
        #expect(frame.kind == .pairingConfirmation)
        #expect(frame.from == "pc")
        #expect(frame.members["pairingCode"] == "000001")
    }

    @Test("a stored frame inside a stored frame, and one that is nothing, are refused")
    func storedRefusals() {
        let inner = #"{"type":"offline-message","originalMessage":{"type":"message","from":"a","payload":{}}}"#
        #expect(code(#"{"type":"offline-message","originalMessage":\#(inner)}"#) == .missingField)
        for original in ["null", "7", "[]", "{}", #""not json""#, #"{"type":"ping"}"#, #"{"type":"message"}"#] {
            #expect(code(#"{"type":"offline-message","originalMessage":\#(original)}"#) == .missingField)
        }
        #expect(code(#"{"type":"offline-message"}"#) == .missingField)
    }

    @Test("each kind of routed frame keeps its top-level fields", arguments: SignallingFrame.Routed.Kind.allCases)
    func routed(kind: SignallingFrame.Routed.Kind) throws {
        let text = #"{"type":"\#(kind.rawValue)","from":"pc","sdp":"v=0","n":[1,2]}"#
        guard case .routed(let frame) = try decode(text) else {
            Issue.record("not routed")
            return
        }
        #expect(frame.kind == kind)
        #expect(frame.from == "pc")
        #expect(frame.to == nil)
        #expect(SignallingFrame.routed(frame).json.serialized() == text)
    }

    @Test("an optional field of the wrong type counts as absent")
    func wrongOptionals() throws {
        for wrong in ["null", "true", "7", "[]", "{}", #""""#] {
            #expect(
                try decode(#"{"type":"message","from":\#(wrong),"to":\#(wrong),"payload":{},"timestamp":"now"}"#)
                    == .message(.init(payload: [:])))
        }
        #expect(
            try decode(#"{"type":"registered","peerId":7,"serverTime":"x","isReconnect":1}"#)
                == .registered(.init(peerID: nil)))
        #expect(
            try decode(#"{"type":"register","peerId":"a","deviceType":"toaster","deviceInfo":[]}"#)
                == .register(.init(peerID: "a")))
    }

    @Test("the frames of a proof are read and written literally ")
    func proof() throws {
        let challenge = #"{"type":"challenge","nonce":"bm9uY2U"}"#
        #expect(try decode(challenge) == .challenge(nonce: "bm9uY2U"))
        #expect(SignallingFrame.challenge(nonce: "bm9uY2U").json.serialized() == challenge)
        let unbound = #"{"type":"challenge","nonce":"bm9uY2U","exporter":false}"#
        #expect(try decode(unbound) == .challenge(nonce: "bm9uY2U", isBound: false))
        #expect(SignallingFrame.challenge(nonce: "bm9uY2U", isBound: false).json.serialized() == unbound)
        // Nothing but `false` leaves the exporter out.
        for other in ["true", "null", "0", #""false""#] {
            let frame = #"{"type":"challenge","nonce":"bm9uY2U","exporter":\#(other)}"#
            #expect(try decode(frame) == .challenge(nonce: "bm9uY2U"))
        }
        let register = SignallingFrame.Register(
            peerID: "did:key:zA", deviceType: .mobile, deviceInfo: [:], bellwire: 1,
            proof: .init(nonce: "n", origin: "ws://192.168.1.5:9001", signature: "s"))
        let text =
            #"{"type":"register","peerId":"did:key:zA","deviceType":"mobile","deviceInfo":{},"bellwire":1,"#
            + #""proof":{"nonce":"n","origin":"ws://192.168.1.5:9001","signature":"s"}}"#
        #expect(SignallingFrame.register(register).json.serialized() == text)
        #expect(try decode(text) == .register(register))
        for wrong in ["1", "null", "[]", "{}", #"{"nonce":"n","origin":"o"}"#] {
            #expect(
                try decode(#"{"type":"register","peerId":"a","bellwire":"1","proof":\#(wrong)}"#)
                    == .register(.init(peerID: "a")))
        }
        let sealed = #"{"type":"message","to":"did:key:zA","sealed":true,"payload":{"type":"bellwire:sealed"}}"#
        let message = SignallingFrame.Message(
            to: "did:key:zA", payload: ["type": "bellwire:sealed"], isSealed: true)
        #expect(SignallingFrame.message(message).json.serialized() == sealed)
        #expect(try decode(sealed) == .message(message))
        for wrong in [#""true""#, "1", "null", "false"] {
            #expect(
                try decode(#"{"type":"message","from":"a","sealed":\#(wrong),"payload":{}}"#)
                    == .message(.init(from: "a", payload: [:])))
        }
        #expect(
            try decode(#"{"type":"error","error":"taken","code":"id_taken"}"#)
                == .error(.init("taken", code: "id_taken")))
    }

    @Test("a frame without what it needs is named, never a crash")
    func refusals() {
        #expect(code("") == .notJSON)
        #expect(code("{") == .notJSON)
        #expect(code(#"{"type":"ping","type":"pong"}"#) == .notJSON)
        #expect(code(String(repeating: "[", count: 10_000)) == .notJSON)
        #expect(code("[]") == .noType)
        #expect(code("{}") == .noType)
        #expect(code(#"{"type":7}"#) == .noType)
        for nonce in ["", #","nonce":7"#, #","nonce":null"#, #","nonce":[]"#] {
            #expect(code(#"{"type":"challenge"\#(nonce)}"#) == .missingField)
        }
        for type in ["register", "peer-offline", "peer-status"] {
            #expect(code(#"{"type":"\#(type)"}"#) == .missingField)
            #expect(code(#"{"type":"\#(type)","peerId":""}"#) == .missingField)
            #expect(code(#"{"type":"\#(type)","peerId":7}"#) == .missingField)
        }
        #expect(code(#"{"type":"peer-status","peerId":"a"}"#) == .missingField)
        #expect(code(#"{"type":"message","from":"a"}"#) == .missingField)
    }

    @Test("a relay's error text is put on one line and cut; its shapes are all read")
    func errorText() throws {
        #expect(try decode(#"{"type":"error","error":{"message":"a\nb"}}"#) == .error("a b"))
        #expect(try decode(#"{"type":"error","message":"m"}"#) == .error("m"))
        #expect(try decode(#"{"type":"error"}"#) == .error(""))
        let long = String(repeating: "x", count: 5_000)
        #expect(try decode(#"{"type":"error","error":"\#(long)"}"#) == .error(.init(String(long.prefix(200)))))
    }

    @Test("frames are written literally as the wire has them")
    func encoding() {
        func text(_ frame: SignallingFrame) -> String { frame.json.serialized() }
        #expect(text(.register(.init(peerID: "pc"))) == #"{"type":"register","peerId":"pc"}"#)
        #expect(
            text(.register(.init(peerID: "d", deviceType: .mobile, deviceInfo: ["name": "n"])))
                == #"{"type":"register","peerId":"d","deviceType":"mobile","deviceInfo":{"name":"n"}}"#)
        #expect(
            text(.message(.init(to: "pc", payload: ["a": 1]))) == #"{"type":"message","to":"pc","payload":{"a":1}}"#)
        #expect(text(.ping) == #"{"type":"ping"}"#)
        #expect(text(.pong(timestamp: 5)) == #"{"type":"pong","timestamp":5}"#)
        #expect(text(.error("e")) == #"{"type":"error","error":"e"}"#)
        #expect(
            text(.routed(.init(kind: .pairingReject, to: "d", members: ["pairingCode": "000000"])))
                == #"{"pairingCode":"000000","type":"pairing:reject","to":"d"}"#)
    }

    @Test("what is written is read again as the same")
    func roundTrip() throws {
        let frames: [SignallingFrame] = [
            .register(.init(peerID: "d", deviceType: .desktop, deviceInfo: ["a": [1]])),
            .registered(.init(peerID: "d", serverTime: 4, isReconnect: true)),
            .message(.init(to: "a", from: "b", payload: "text", timestamp: 9)),
            .peerOffline(.init(peerID: "x", messageType: "message")),
            .offlineMessage(.init(original: .message(.init(from: "b", payload: [:])), storedAt: 1, deliveredAt: 2)),
            .offlineMessage(.init(original: .routed(.init(kind: .offer, from: "b", members: ["sdp": "s"])))),
            .peerStatus(.init(peerID: "x", isOnline: true)), .peerStatus(.init(peerID: "x", isOnline: false)),
            .routed(.init(kind: .pairingConfirmation, to: "t", from: "f", members: ["k": nil, "n": 1])),
            .ping, .pong(timestamp: nil), .pong(timestamp: 3), .error("e"), .serverShutdown, .other(type: "get-peers"),
            .peersList(["x": ["name": "X"], "y": [:]]),
        ]
        for frame in frames { #expect(try decode(frame.json.serialized()) == frame) }
    }

    @Test("a stored frame counts as of now only when its time is known and after the beginning")
    func delivery() {
        #expect(SignallingDelivery.live.isSince(100))
        #expect(SignallingDelivery.stored(at: 101).isSince(100))
        #expect(!SignallingDelivery.stored(at: 100).isSince(100))
        #expect(!SignallingDelivery.stored(at: nil).isSince(.min))
    }
}
