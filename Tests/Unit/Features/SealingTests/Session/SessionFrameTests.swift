import Identity
import JSON
import TestSupport
import Testing

@testable import Sealing

/// Frames, windows and padding by themselves; more bad ones are in the vectors.
@Suite struct SessionFrameTests {
    private let box = String(repeating: "A", count: 364)  // 273 bytes

    private func code(_ payload: JSONObject) -> SealError.Code? {
        do throws(SealError) { _ = try SessionFrame(decoding: payload) } catch { return error.code }
        return nil
    }

    @Test("a frame is literally that of the page, and unknown members are ignored")
    func literal() throws {
        let id = try #require(SessionID(bytes: [UInt8](repeating: 0, count: 16)))
        let frame = SessionFrame(id: id, counter: 7, box: [UInt8](repeating: 0, count: 273))
        #expect(
            JSONValue.object(frame.json).serialized()
                == #"{"type":"bellwire:s2","payload":{"v":2,"sid":"AAAAAAAAAAAAAAAAAAAAAA","n":7,"box":"\#(box)"}}"#)
        #expect(try SessionFrame(decoding: frame.json) == frame)
        var more = try #require(frame.json["payload"]?.object)
        more["new"] = [1]
        #expect(code(["type": "bellwire:s2", "payload": .object(more), "new": 1]) == nil)
        #expect(code(more) == .malformed)
        #expect(code(["type": "bellwire:sealed", "payload": .object(more)]) == .malformed)
        #expect(code(["type": "bellwire:s2"]) == .malformed)
    }

    @Test("each member with a wrong type or value is refused")
    func members() {
        let good: JSONObject = ["v": 2, "sid": "AAAAAAAAAAAAAAAAAAAAAA", "n": 0, "box": .string(box)]
        #expect(code(["type": "bellwire:s2", "payload": .object(good)]) == nil)
        let wrong: [JSONValue?] = [
            nil, .null, true, -1, 1.5, 1e300, "", "A", "AAAA", [], [:],
            .string(String(repeating: "A", count: 1_048_577)),
        ]
        for key in good.keys {
            for value in wrong {
                var changed = good
                changed[key] = value
                #expect(
                    code(["type": "bellwire:s2", "payload": .object(changed)]) != nil,
                    "\(key) \(String(describing: value))")
            }
        }
    }

    @Test("a window takes each counter once, in any order within its width")
    func window() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<20 {
            var window = SessionWindow()
            var (seen, end): (Set<UInt64>, UInt64) = ([], 0)
            for _ in 0..<3_000 {
                let top = end + 200
                let counter = top - min(top, UInt64.random(in: 0..<6_000, using: &generator))
                let expected = !seen.contains(counter) && (counter >= end || end - counter <= SessionWindow.width)
                let isTaken = window.record(counter)
                #expect(isTaken == expected)
                seen.insert(counter)
                end = max(end, counter + 1)
            }
        }
        var window = SessionWindow()
        #expect(!window.accepts(.max))
        let isTaken = window.record(.max - 1)
        #expect(isTaken && !window.accepts(.max - 1) && !window.accepts(0))
    }

    @Test("padding comes off again at every length, and only where it was put on in this way")
    func padding() {
        for count in 0..<3_000 {
            let content = [UInt8](repeating: 0x80, count: count)
            let padded = Padding.pad(content)
            #expect(padded.count >= 256 && padded.count <= max(256, count + 1 + (count + 1) * 12 / 100 + 1))
            #expect(Padding.unpad(padded).map(Array.init) == content)
            #expect(Padding.unpad(padded + [0]) == nil)
            #expect(Padding.unpad(Array(padded.dropLast())).map(Array.init) != content || count == 0 && padded.isEmpty)
        }
        #expect(Padding.unpad([]) == nil)
        #expect(Padding.unpad([UInt8](repeating: 0, count: 256)) == nil)
        #expect(Padding.size(of: SessionFrame.plaintextLimit) == SessionFrame.plaintextLimit)
    }

    @Test("short messages have one size, whatever they say")
    func sizes() throws {
        let bench = try SessionBench()
        try bench.connect()
        let bodies: [JSONObject] = [
            SessionBench.hello, ["type": "bellwire:ack", "payload": ["pushSeq": 1]],
            ["type": "bellwire:skip", "payload": ["through": .integer(.max)]],
            [
                "type": "bellwire:token",
                "payload": ["service": "apns", "token": .string(String(repeating: "ab", count: 32))],
            ],
            ["type": "bellwire:unpair", "payload": [:]],
            [
                "type": "chainlesschain:event",
                "payload": [
                    "event": "notification.received", "notificationId": "3bf766f6-0f44", "title": "Tea",
                    "body": .string(String(repeating: "x", count: 200)), "pushSeq": 41,
                ],
            ],
        ]
        let sizes = bodies.map { bench.device.seal($0).frame?.box.count }
        #expect(Set(sizes) == [528])
    }

    @Test("the sizes of a sender that doesn't fill are read, from 256 bytes on")
    func oldSizes() throws {
        for count in 20..<511 {
            let body: JSONObject = ["x": .string(String(repeating: "x", count: count))]
            let plaintext = SessionPlaintext(timestamp: nil, body: body)
            let old = Padding.pad(plaintext.bytes)
            #expect(old.count >= 256 && old.count <= 592)
            #expect(try SessionPlaintext(decoding: #require(Padding.unpad(old))) == plaintext)
            let new = Padding.pad(plaintext.filledBytes)
            #expect(new.count >= 512)
            #expect(try SessionPlaintext(decoding: #require(Padding.unpad(new))) == plaintext)
        }
    }
}
