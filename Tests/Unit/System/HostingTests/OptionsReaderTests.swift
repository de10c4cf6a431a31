import JSON
import Testing

@testable import Hosting

@Suite struct OptionsReaderTests {
    private enum Mode: String, CaseIterable { case fast, slow }

    @Test("every key that is known is read, and nothing is left")
    func reads() throws {
        var options = try OptionsReader(parsing: #"{"a":"x","b":true,"c":7,"d":"slow","e":{"f":1}}"#)
        #expect(try options.text("a") == "x")
        #expect(try options.flag("b") == true)
        #expect(try options.integer("c", in: 1...7) == 7)
        #expect(try options.choice("d", of: Mode.self) == .slow)
        var inner = try options.object("e")
        #expect(try inner?.integer("f", in: 0...1) == 1)
        try inner?.finish()
        try options.finish()
        #expect(try options.text("absent") == nil)
    }

    @Test("an unknown key is an error that names it, with its place")
    func unknownKey() throws {
        var options = try OptionsReader(parsing: #"{"tls":{"ca_fil":"x"}}"#)
        var tls = try #require(try options.object("tls"))
        _ = try tls.text("ca_file")
        let error = try #require(throws: HostError.self) { try tls.finish() }
        #expect(error.code == .invalid)
        #expect(error.detail["field"]?.string == "tls.ca_fil")
    }

    @Test(
        "a value of the wrong type or out of range is an error that names the key",
        arguments: [#"{"k":1}"#, #"{"k":null}"#, #"{"k":[]}"#, #"{"k":"much too long"}"#, "{\"k\":\"\\u0000\"}"])
    func wrongText(_ json: String) throws {
        var options = try OptionsReader(parsing: json)
        let error = try #require(throws: HostError.self) { _ = try options.text("k", maximumBytes: 4) }
        #expect(error.code == .invalid)
        #expect(error.detail["field"]?.string == "k")
    }

    @Test("a number out of range, a fraction and an unknown choice are refused")
    func wrongValues() throws {
        var options = try OptionsReader(parsing: #"{"low":0,"half":0.5,"mode":"medium"}"#)
        #expect(throws: HostError.self) { try options.integer("low", in: 1...2) }
        #expect(throws: HostError.self) { try options.integer("half", in: 0...2) }
        let error = try #require(throws: HostError.self) { _ = try options.choice("mode", of: Mode.self) }
        #expect(error.message.contains("\"fast\", \"slow\""))
    }

    @Test("options that are no object, or no JSON, say so; none at all are the defaults")
    func notAnObject() throws {
        #expect(throws: HostError.self) { try OptionsReader(parsing: "[]") }
        #expect(throws: HostError.self) { try OptionsReader(parsing: "{") }
        var none = try OptionsReader(parsing: nil)
        #expect(try none.text("a") == nil)
        try none.finish()
    }
}
