import JSON
import Pairing
import Sealing
import Testing
import Wire

@testable import Desktop

/// What a paired device says, read once.
@Suite
struct DeviceMessageTests {
    private let device = UnitBench.device(1)
    private let mark = SealMark(peer: "did:key:zDevice1", epoch: 1, seq: 7)

    private func read(_ payload: JSONValue, sealed: Bool = true) -> DeviceMessage {
        DeviceMessage(Payload(decoding: payload), from: device, sealed ? mark : nil)
    }

    @Test("what only counts in a seal is ignored in plain text")
    func plain() {
        let payloads: [JSONValue] = [
            ["type": "bellwire:ack", "payload": ["pushSeq": 3]],
            ["type": "bellwire:hello", "payload": ["v": 1, "lastPushSeq": 3]],
            ["type": "bellwire:unpair", "payload": [:]],
            ["type": "bellwire:receipt", "payload": ["id": "n", "presented": true, "at": 1]],
            ["type": "bellwire:token", "payload": ["service": "fcm", "token": "ab", "deviceId": "device-1"]],
        ]
        for payload in payloads {
            guard case .ignored = read(payload, sealed: false) else {
                Issue.record("\(payload.serialized()) counts in plain text")
                continue
            }
            if case .ignored = read(payload) { Issue.record("\(payload.serialized()) does not count in a seal") }
        }
    }

    @Test("an acknowledgement and a hello say how far the device is; one that cannot be read says nothing")
    func positions() {
        guard case .position(3, nil, false, mark) = read(["type": "bellwire:ack", "payload": ["pushSeq": 3]]),
            case .position(4, nil, true, mark) = read([
                "type": "bellwire:hello", "payload": ["v": 1, "lastPushSeq": 4],
            ])
        else { return #expect(Bool(false), "not read") }
        // It names epochs, and doesn't know this one.
        guard
            case .position(3, 0, false, mark) = read([
                "type": "bellwire:ack", "payload": ["pushSeq": 3, "epoch": 0],
            ]),
            case .position(4, 0, true, mark) = read([
                "type": "bellwire:hello", "payload": ["v": 1, "lastPushSeq": 4, "epoch": 0],
            ])
        else { return #expect(Bool(false), "not read") }
        let odd: [JSONValue] = [-1, "3", 1.5, .null, .integer(.max)]
        for seq in odd {
            guard case .ignored = read(["type": "bellwire:ack", "payload": ["pushSeq": seq]]) else {
                Issue.record("\(seq.serialized()) is a number of a push")
                continue
            }
        }
    }

    @Test("a token of another device's, a receipt without its fields and a broken request are malformed")
    func malformed() {
        let payloads: [JSONValue] = [
            ["type": "bellwire:token", "payload": ["service": "fcm", "token": "ab", "deviceId": "other"]],
            ["type": "bellwire:receipt", "payload": ["id": "n"]],
            ["type": "chainlesschain:command:request", "payload": 17],
        ]
        for payload in payloads {
            guard case .malformed = read(payload) else {
                Issue.record("\(payload.serialized()) is not malformed")
                continue
            }
        }
        let request: JSONValue = ["id": "x", "method": "m", "params": []]
        guard
            case .malformedRequest(let asked, _) = read(["type": "chainlesschain:command:request", "payload": request])
        else { return #expect(Bool(false), "not answerable") }
        #expect(asked.id == "x")
    }

    @Test("what the desktop does not know is the host's to read, under its own type")
    func others() {
        guard case .forHost("bellwire:new", let fields) = read(["type": "bellwire:new", "payload": ["a": 1]]),
            case .forHost("x:y", let whole) = read(["type": "x:y", "z": 1]),
            case .forHost("chainlesschain:event", let event) = read(
                ["type": "chainlesschain:event", "payload": ["event": "e", "f": 2]])
        else { return #expect(Bool(false), "not for the host") }
        #expect(fields["payload"]?["a"] == 1 && whole["payload"]?["z"] == 1)
        #expect(event["event"] == "e" && event["payload"]?["f"] == 2)
    }
}
