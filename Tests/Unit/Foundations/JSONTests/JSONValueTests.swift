import Testing

@testable import JSON

@Suite struct JSONValueTests {
    @Test("what was read is written again, members in their order")
    func roundTrip() throws {
        let text = #"{"z":1,"a":[true,false,null,-9223372036854775808,0.5],"":"ü\u0000\n","o":{}}"#
        #expect(try JSONValue(parsing: text).serialized() == text)
    }

    @Test("every kind of bad text has its own name")
    func refusals() {
        func code(_ text: String) -> JSONError.Code? {
            do { _ = try JSONValue(parsing: text) } catch { return error.code }
            return nil
        }
        #expect(code("") == .empty)
        #expect(code("{\"a\":") == .cut)
        #expect(code("{\"a\":1,\"a\":2}") == .duplicateKey)
        #expect(code(String(repeating: "[", count: 10_000)) == .tooDeep)
        #expect(code("123456789012345678901234567890") == .numberRange)
        #expect(code("1e999") == .numberRange)
        #expect(code("{} {}") == .trailing)
        #expect(code("{a:1}") == .syntax)
        #expect(throws: JSONError.self) { try JSONValue(parsing: [0x22, 0xff, 0x22]) }
        do { _ = try JSONValue(parsing: [0x22, 0xff, 0x22]) } catch { #expect(error.code == .notUTF8) }
    }

    @Test("a message never repeats the text")
    func messages() {
        do { _ = try JSONValue(parsing: "{\"secret\":hunter2}") } catch { #expect(!error.message.contains("hunter2")) }
    }

    @Test("nesting is read up to the limit that the reader has, jansson's at most")
    func deep() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        #expect(try JSONValue(parsing: nested(2048), depth: JSONValue.longestDepth).serialized() == nested(2048))
        #expect(throws: JSONError.self) { try JSONValue(parsing: nested(2049), depth: 10_000) }
        #expect(try JSONValue(parsing: nested(256)).serialized() == nested(256))
        do { _ = try JSONValue(parsing: nested(257)) } catch { #expect(error.code == .tooDeep) }
        #expect(throws: JSONError.self) { try JSONValue(parsing: nested(257)) }
        #expect(throws: JSONError.self) { try JSONValue(parsing: "{\"a\":\(nested(64))}", depth: 64) }
        #expect(try JSONValue(parsing: "{\"a\":\(nested(63))}", depth: 64)["a"]?.array != nil)
    }

    @Test("numbers that JSON cannot say become null; a double reads as an integer where it fits")
    func numbers() {
        #expect(JSONValue.array([.double(.nan), .double(.infinity)]).serialized() == "[null,null]")
        #expect(JSONValue.double(1_715_760_000_000.9).integer == 1_715_760_000_000)
        #expect(JSONValue.double(1e300).integer == nil)
    }

    @Test("objects are equal in any order, and setting nil removes")
    func objects() {
        var object: JSONObject = ["a": 1, "b": 2, "left out": nil]
        #expect(object == ["b": 2, "a": 1])
        object["a"] = nil
        #expect(object.keys == ["b"])
    }
}
