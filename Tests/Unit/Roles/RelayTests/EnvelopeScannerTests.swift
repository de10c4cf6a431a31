import JSON
import TestSupport
import Testing

@testable import Relay

@Suite("The scanner finds a frame's envelope and refuses what is no frame")
struct EnvelopeScannerTests {
    private func text(_ field: KeyPath<Envelope, Envelope.Field>, in frame: String) throws -> String {
        let envelope = try scan(frame)
        return String(decoding: Array(frame.utf8)[envelope[keyPath: field].range], as: UTF8.self)
    }

    @Test("every envelope field is found, wherever it stands")
    func findsFields() throws {
        let frame = #"""
             { "payload" : {"type":"inner","to":"not me"} , "messageId":"m1","id" :7,
            "from":"x","sealed":true,"to":"bob","type":"message","deviceType":"mobile","deviceInfo":{"a":[1]},"peerId":"p","extra":null }
            """#
        #expect(try text(\.payload, in: frame) == #"{"type":"inner","to":"not me"}"#)
        #expect(try text(\.type, in: frame) == #""message""#)
        #expect(try text(\.to, in: frame) == #""bob""#)
        #expect(try text(\.from, in: frame) == #""x""#)
        #expect(try text(\.peerID, in: frame) == #""p""#)
        #expect(try text(\.messageID, in: frame) == #""m1""#)
        #expect(try text(\.id, in: frame) == "7")
        #expect(try text(\.sealed, in: frame) == "true")
        #expect(try text(\.deviceType, in: frame) == #""mobile""#)
        #expect(try text(\.deviceInfo, in: frame) == #"{"a":[1]}"#)
    }

    @Test("text is read the same wherever it ends and whatever stands behind it", arguments: 0..<40)
    func lengths(length: Int) throws {
        let plain = String(repeating: "é", count: length / 2) + String(repeating: "x", count: length % 2)
        for space in 0..<18 {
            let end = String(repeating: " ", count: space)
            #expect(try text(\.to, in: "{\"to\":\"\(plain)\"}\(end)") == "\"\(plain)\"")
            let escaped = "\"\(plain)\\\"\(plain)\""
            #expect(try text(\.to, in: "{\"to\":\(escaped)}\(end)") == escaped)
            #expect(throws: EnvelopeScanner.Failure.syntax) { try scan("{\"to\":\"\(plain)\u{1f}\(end)\"}") }
            #expect(throws: EnvelopeScanner.Failure.cut) { try scan("{\"to\":\"\(plain)\(end)") }
        }
    }

    @Test("a key with escapes is the key that it spells")
    func escapedKeys() throws {
        #expect(try text(\.to, in: #"{"t\u006f":"bob"}"#) == #""bob""#)
        #expect(try text(\.payload, in: #"{"\u0070\u0061\u0079\u006C\u006f\u0061\u0064":1}"#) == "1")
        #expect(try scan(#"{"t\n":1}"#).to.isAbsent)
    }

    @Test("a duplicated envelope key is refused, also when one is written with escapes")
    func duplicates() {
        for frame in [
            #"{"to":"a","to":"b"}"#, #"{"to":"a","t\u006f":"b"}"#, #"{"type":1,"x":2,"type":1}"#,
            #"{"payload":null,"payload":{}}"#, #"{"from":1,"fr\u006fm":2}"#,
        ] {
            #expect(throws: EnvelopeScanner.Failure.duplicateKey) { try scan(frame) }
        }
    }

    @Test("keys that stand twice below the top are left to the receiver")
    func deeperDuplicates() throws {
        _ = try scan(#"{"payload":{"to":1,"to":2}}"#)
    }

    @Test("payload may be text that is no JSON")
    func payloadAsText() throws {
        #expect(try text(\.payload, in: #"{"payload":"{\"not\": json"}"#) == #""{\"not\": json""#)
        #expect(try scan(#"{"payload":"a\"b"}"#).payload.kind == .escapedString)
        #expect(try scan(#"{"payload":"ab"}"#).payload.kind == .string)
    }

    @Test("a frame that is cut anywhere is refused")
    func cut() {
        let frame = Array(
            #"{"type":"message","to":"b\u00e9\ud83d\ude00","payload":{"a":[1,-2.5e+3,true,false,null,""]}}"#.utf8)
        for length in 0..<frame.count {
            #expect(throws: EnvelopeScanner.Failure.self) { try scan(Array(frame[..<length])) }
        }
    }

    @Test("nesting ends at the depth where jansson ends", arguments: ["[", #"{"a":"#])
    func nesting(opening: String) {
        let closing = opening == "[" ? "]" : "}"
        for depth in [1, 63, 64, 65, 128, 129, 2_046, 2_047, 2_048, 10_000] {
            for inner in ["1", "[]", "{}"] {
                let value = String(repeating: opening, count: depth) + inner + String(repeating: closing, count: depth)
                let frame = #"{"payload":\#(value)}"#
                let accepted = (try? scan(frame)) != nil
                let whole = try? JSONValue(parsing: frame, depth: JSONValue.longestDepth)
                #expect(accepted == (whole != nil), "\(depth) \(inner)")
            }
        }
        #expect(throws: EnvelopeScanner.Failure.tooDeep) {
            try scan(#"{"payload":"# + String(repeating: opening, count: 10_000))
        }
    }

    @Test("a frame of 1 MiB is scanned whole")
    func large() throws {
        let frame = #"{"payload":"\#(String(repeating: "x", count: 1 << 20))","to":"b"}"#
        #expect(try text(\.to, in: frame) == #""b""#)
    }

    @Test("literal frames that are no JSON object are refused")
    func refusesOthers() {
        for frame in [
            "", " ", "null", "[]", "1", #""a""#, "{", "}", "{}}", "{} x", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, "{,}",
            #"{a:1}"#, #"{'a':1}"#, #"{"a":01}"#, #"{"a":+1}"#, #"{"a":1.}"#, #"{"a":.5}"#, #"{"a":1e}"#, #"{"a":-}"#,
            #"{"a":tru}"#, #"{"a":nul1}"#, #"{"a":NaN}"#, #"{"a":"\x"}"#, #"{"a":"\u12g4"}"#, #"{"a":"\ud800"}"#,
            #"{"a":"\udc00"}"#, #"{"a":"\ud800\u0041"}"#, "{\"a\":\"\u{01}\"}", "{\"a\":\"tab\there\"}", #"{"a":[1,]}"#,
            #"{"a":[1 2]}"#, #"{"a":{"b":1]}"#, #"{"a":[1}}"#, "\u{FEFF}{}", #"{"a\u0000":1}"#, #"{"a":1 "b":2}"#,
        ] {
            #expect(throws: EnvelopeScanner.Failure.self, "\(frame)") { try scan(frame) }
            #expect((try? JSONValue(parsing: frame))?.object == nil, "\(frame)")
        }
    }

    @Test("a bare NUL is refused wherever it stands")
    func bareNUL() {
        let frame = Array(#"{"to" : "b" , "payload":[1,{"a":true}]}"#.utf8)
        for index in 0...frame.count {
            var broken = frame
            broken.insert(0, at: index)
            #expect(throws: EnvelopeScanner.Failure.self) { try scan(broken) }
        }
    }

    @Test("scanner and jansson agree on a hundred thousand mutated frames", arguments: [1, 2, 3, 4])
    func agreesWithJansson(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let seeds = [
            #"{"type":"message","to":"bob","payload":{"a":[1,2.5,-3e7,{"b":null}],"c":"d\"e\\f\u00e9\ud83d\ude00"}}"#,
            #" {"a" : [ ] , "b" : { } , "c":[[[]],{"x":[true,false]}], "d":0.10E-2 , "long":"0123456789abcdef0123456789"} "#,
            #"{"from":"x","t\u006f":"y\u0000","n":-0,"sealed":false,"s":"\b\f\n\r\t\/"}"#,
        ].map { Array($0.utf8) }
        // No bare NUL: jansson reads over it, the grammar does not know it.
        let alphabet = Array(#"{}[]",:\u0019ade+-.tfn /"#.utf8) + [0x01, 0x1F, 0x20, 0x0A, 0x7F]
        for _ in 0..<25_000 {
            var frame = seeds.randomElement(using: &generator) ?? []
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: 0..<frame.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: frame[index] = alphabet.randomElement(using: &generator) ?? 0
                case 1: frame.remove(at: index)
                case 2: frame.insert(alphabet.randomElement(using: &generator) ?? 0, at: index)
                default: frame.swapAt(index, Int.random(in: 0..<frame.count, using: &generator))
                }
            }
            // Only whole UTF-8 reaches the scanner.
            guard String(validating: frame, as: UTF8.self) != nil else { continue }
            let expected: Bool
            do throws(JSONError) {
                expected = try JSONValue(parsing: frame).object != nil
            } catch {
                // Left to the receiver: keys that stand twice further down, and numbers out of range.
                if error.code == .duplicateKey || error.code == .numberRange { continue }
                expected = false
            }
            let accepted = (try? scan(frame)) != nil
            if accepted != expected {
                Issue.record("scanner \(accepted), jansson \(expected): \(frame.text)")
                return
            }
        }
    }

    @Test("no cut, mutated or random bytes make the scanner read outside its frame")
    func randomBytes() {
        var generator = SeededGenerator(seed: 9)
        for _ in 0..<20_000 {
            let count = Int.random(in: 0..<40, using: &generator)
            var frame: [UInt8] = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            if Bool.random(using: &generator) { frame = Array(#"{"to":"#.utf8) + frame }
            _ = try? scan(frame)
        }
    }
}

@Suite("The text of JSON strings")
struct JSONTextTests {
    @Test("escapes are undone as jansson undoes them, and what is quoted reads back the same")
    func escapes() throws {
        for text in [#"a\"\\\/\b\f\n\r\t"#, #"\u00e9\u4e2d\ud83d\ude00\u0041"#, "é中😀", ""] {
            let bytes = Array(text.utf8)
            let plain = bytes.withUnsafeBytes { JSONText.unescaped($0) }
            #expect(plain.text == (try JSONValue(parsing: "\"\(text)\"")).string)
            var quoted: [UInt8] = []
            JSONText.appendQuoted(plain, to: &quoted)
            #expect(quoted.json?.string == plain.text)
        }
    }
}
