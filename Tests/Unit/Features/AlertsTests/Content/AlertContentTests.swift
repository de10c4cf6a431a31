import Alerts
import JSON
import TestSupport
import Testing

@Suite struct AlertContentTests {
    private let full = AlertContent(
        title: "Build", subtitle: "main", body: "It failed\nagain", badge: 3, sound: "default", category: "BUILD",
        thread: "ci", userInfo: ["taskID": 17, "nested": ["a": [1, nil]]], deepLink: "app://task/17",
        attachments: ["/tmp/a.png"], level: .timeSensitive)

    @Test("what a host gives is what it gets back, and what is stored is what comes back")
    func roundTrip() throws {
        #expect(try AlertContent(parsing: full.json) == full)
        #expect(AlertContent(stored: full.json) == full)
        let text = JSONValue.object(full.json).serialized()
        #expect(AlertContent(stored: try #require(JSONValue(parsing: text).object)) == full)
        let small = AlertContent(title: "x")
        #expect(try AlertContent(parsing: ["title": "x"]) == small)
        #expect(small.json == ["title": "x", "body": "", "level": "active"])
    }

    private static let wrong: [(JSONObject, String)] = [
        ([:], "title"),
        (["title": ""], "title"),
        (["title": 1], "title"),
        (["title": nil as JSONValue?, "body": "x"], "title"),
        (["title": .null], "title"),
        (["title": .string(String(repeating: "x", count: 1_025))], "title"),
        (["title": "x", "subtitle": false], "subtitle"),
        (["title": "x", "body": .null], "body"),
        (["title": "x", "body": .string(String(repeating: "x", count: 65_537))], "body"),
        (["title": "x", "badge": -1], "badge"),
        (["title": "x", "badge": 1.5], "badge"),
        (["title": "x", "badge": .integer(.max)], "badge"),
        (["title": "x", "badge": "3"], "badge"),
        (["title": "x", "sound": ""], "sound"),
        (["title": "x", "sound": "a\nb"], "sound"),
        (["title": "x", "category": ""], "category"),
        (["title": "x", "category": "a\u{0}"], "category"),
        (["title": "x", "thread": .string(String(repeating: "x", count: 257))], "thread"),
        (["title": "x", "userInfo": []], "userInfo"),
        (["title": "x", "userInfo": ["a": .string(String(repeating: "x", count: 65_536))]], "userInfo"),
        (["title": "x", "deepLink": "a\u{7f}"], "deepLink"),
        (["title": "x", "attachments": "/a"], "attachments"),
        (["title": "x", "attachments": ["a.png"]], "attachments"),
        (["title": "x", "attachments": ["/a\u{0}"]], "attachments"),
        (["title": "x", "attachments": .array(Array(repeating: "/a", count: 9))], "attachments"),
        (["title": "x", "level": "critical"], "level"),
        (["title": "x", "message": "y"], "message"),
    ]

    @Test("each thing that cannot be is an error that names its field, and the place where it stands", arguments: wrong)
    func errors(_ json: JSONObject, field: String) {
        let error = #expect(throws: AlertsError.self) { try AlertContent(parsing: json) }
        #expect(error?.field == field)
        let placed = #expect(throws: AlertsError.self) { try AlertContent(parsing: json, in: "content.") }
        #expect(placed?.field == "content.\(field)" && placed?.message.hasPrefix("content.\(field): ") == true)
    }

    @Test("no value stands in an error, and no name that is none")
    func secrets() {
        let error = #expect(throws: AlertsError.self) { try AlertContent(parsing: ["title": "x", "\u{1b}[31m": 1]) }
        #expect(error?.message.contains("\u{1b}") == false)
        let long = #expect(throws: AlertsError.self) {
            try AlertContent(parsing: ["title": .string(String(repeating: "secret", count: 1_000))])
        }
        #expect(long?.message.contains("secret") == false)
    }

    @Test(
        "whatever is stored can be read, and whatever a host gives is taken or refused",
        arguments: 0..<8 as Range<UInt64>)
    func hostile(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let json = HostileJSON.object(of: AlertContent.fields, &random)
            let stored = AlertContent(stored: json)
            #expect(AlertContent(stored: stored.json) == stored)
            do {
                let content = try AlertContent(parsing: json)
                #expect(AlertContent(stored: content.json) == content)
            } catch {
                let name = try #require(error.field)
                #expect(AlertContent.fields.contains(name) || name.hasPrefix("a member with"))
            }
        }
    }
}
