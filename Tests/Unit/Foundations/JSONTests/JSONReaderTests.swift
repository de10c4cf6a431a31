import CJansson
import TestSupport
import Testing

@testable import JSON

@Suite struct JSONReaderTests {
    /// One of everything that stands in JSON, and what is near to it and does not.
    private static let texts = [
        #"{"type":"message","to":"did:key:z6Mk","payload":{"a":[1,2,{"b":null}],"c":"ü€😀"},"timestamp":1715760000000}"#,
        #"{ "a" : [ ] , "b" : { } , "c" : -0 , "d" : 0.5 , "e" : 1e3 , "f" : [ true , false , null ] }"#,
        #"["\u0000\"\\\/\b\f\n\r\t","\u00fc\uD83D\uDE00","plain text that is longer than eight bytes"]"#,
        #"[9223372036854775807,-9223372036854775808,9223372036854775808,123456789012345678,01,-,1.,.5,1e999]"#,
        #"{"a":1,"a":2}"#, #"{"\u0061":1,"a":2}"#, #"{"\u0000":1}"#, #"{"é":1,"é":2}"#, #"["\uD800","\uDC00"]"#,
        #"{"a":1,}"#, "[1,]", "[1 2]", "tru", "\"cut", "\"tab\tinside\"", "1 2", " \n\t\r7\r", "",
    ]

    private func bytes(_ value: JSONValue?) -> [UInt8]? { value?.serializedBytes() }

    private func compare(_ text: [UInt8], depth: Int = JSONValue.depthLimit) -> Bool {
        text.withUnsafeBytes { text in
            let read = JSONReader.read(text, depth: depth)
            let jansson = try? JSONValue(jansson: text, depth: depth)
            // What the reader leaves to jansson may be anything.
            return read == nil || bytes(read) == bytes(jansson)
        }
    }

    @Test("what it reads is what jansson reads, whatever is changed in a text")
    func mutations() {
        var random = SeededGenerator(seed: 0x5EED)
        let special = Array("{}[]\",:\\u0019eE+-. \n\t\u{1}\u{7F}truefalsnl".utf8) + [0x80, 0xC3, 0xED, 0xFF, 0]
        for text in Self.texts {
            #expect(compare(Array(text.utf8)), "\(text)")
            for _ in 0..<3_000 {
                var changed = Array(text.utf8)
                for _ in 0...Int(random.next() % 3) {
                    let place = Int(random.next() % UInt64(changed.count + 1))
                    let byte = special[Int(random.next() % UInt64(special.count))]
                    switch random.next() % 4 {
                    case 0: changed.insert(byte, at: place)
                    case 1 where place < changed.count: changed.remove(at: place)
                    case 2: changed.removeSubrange(place...)
                    default: if place < changed.count { changed[place] = byte }
                    }
                }
                #expect(compare(changed), "\(changed)")
            }
        }
    }

    @Test("usual frames are read without jansson; rare ones are left to it")
    func leaves() {
        func reads(_ text: String) -> Bool {
            Array(text.utf8).withUnsafeBytes { JSONReader.read($0, depth: JSONValue.depthLimit) != nil }
        }
        for text in Self.texts.prefix(3) { #expect(reads(text), "\(text)") }
        #expect(!reads(#"{"a":1,"a":2}"#))
        #expect(!reads(#"{"\u0061":1}"#))
        #expect(!reads("{" + (0..<33).map { "\"\($0)\":0" }.joined(separator: ",") + "}"))
        #expect(!reads(String(repeating: "[", count: 65) + String(repeating: "]", count: 65)))
        #expect(reads(String(repeating: "[", count: 64) + String(repeating: "]", count: 64)))
    }

    @Test("many keys, deep nesting and keys that are alike are read all the same")
    func rare() throws {
        let many = "{" + (0..<500).map { "\"key \($0)\":\($0)" }.joined(separator: ",") + "}"
        #expect(try JSONValue(parsing: many).serialized() == many)
        let alike = "{" + (0..<30).map { "\"key number \($0)\":\($0)" }.joined(separator: ",") + "}"
        #expect(try JSONValue(parsing: alike).serialized() == alike)
        // One letter, written in two ways: two keys for jansson, which compares bytes.
        let composed = "{\"\u{E9}\":1,\"e\u{301}\":2}"
        #expect(try JSONValue(parsing: composed).object?.count == 2)
    }

    @Test("what is written is what jansson writes, whatever the text")
    func writing() throws {
        var random = SeededGenerator(seed: 0xBEEF)
        let pieces = [
            "\"", "\\", "/", "\n", "\r", "\t", "\u{8}", "\u{C}", "\u{0}", "\u{1F}", "\u{7F}", "a", "12345678", "ü", "😀",
        ]
        for _ in 0..<2_000 {
            let text = (0..<Int(random.next() % 20)).map { _ in pieces[Int(random.next() % UInt64(pieces.count))] }
                .joined()
            let number = Int64(bitPattern: random.next())
            let value: JSONValue = [
                // jansson refuses a NUL in a key.
                String(text.filter { $0 != "\u{0}" }): .string(text), "n": .integer(number),
                "s": .integer(number % 100),
                "d": .double(Double(number) / 1_000_003), "a": [nil, true, false, [], [:], .string(text)],
            ]
            let written = value.serializedBytes()
            #expect(String(decoding: written, as: UTF8.self) == value.serialized())
            #expect(written == janssons(written))
        }
        for number in [Int64.min, .max, 0, -1, 9, 10, 99, 100] {
            #expect(JSONValue.integer(number).serialized() == String(number))
        }
    }

    /// The text as jansson writes what it has read of it.
    private func janssons(_ text: [UInt8]) -> [UInt8]? {
        let flags = Int(JSON_DECODE_ANY | JSON_ALLOW_NUL)
        let root = text.withUnsafeBytes {
            json_loadb($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count, flags, nil)
        }
        guard let root else { return nil }
        defer { json_decref(root) }
        var written = [CChar](repeating: 0, count: 2 * text.count)
        let count = json_dumpb(root, &written, written.count, Int(JSON_COMPACT | JSON_ENCODE_ANY))
        return written.prefix(count).map { UInt8(bitPattern: $0) }
    }
}
