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

    @Test("nesting up to jansson's limit is read and released")
    func deep() throws {
        let text = String(repeating: "[", count: 2048) + String(repeating: "]", count: 2048)
        #expect(try JSONValue(parsing: text).serialized() == text)
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
