import JSON
import Testing

@testable import Door
@testable import Transport

@Suite("What is published")
struct PublicationTests {
    private static let now: Int64 = 1_700_000_000_000

    private func read(
        _ target: String, _ headers: [(String, String)] = [], _ body: String = ""
    ) throws(DoorError) -> Publication {
        try read(target, headers, bytes: Array(body.utf8))
    }

    private func read(
        _ target: String, _ headers: [(String, String)] = [], bytes: [UInt8]
    ) throws(DoorError) -> Publication {
        let head = HTTPRequestHead(
            method: "POST", target: target, headers: headers.map { .init(name: $0.0, value: $0.1) },
            asksForWebSocket: false)
        return try Publication(head, body: bytes, now: Self.now)
    }

    @Test("a body is the message; without a title the topic is shown")
    func plain() throws {
        let publication = try read("/backups", [], "Backup done")
        #expect(
            JSONValue.object(publication.parameters(groups: []))
                == [
                    "title": "backups", "body": "Backup done", "priority": "normal", "data": ["topic": "backups"],
                    "threadId": "backups",
                ])
        #expect(
            publication.answer(id: "n1", now: Self.now)
                == [
                    "id": "n1", "time": 1_700_000_000, "event": "message", "topic": "backups",
                    "message": "Backup done",
                ])
        #expect(try read("/backups").message == "triggered")
    }

    @Test("headers and query say the rest, under each of ntfy's names")
    func fields() throws {
        let expected = try read(
            "/t",
            [
                ("X-Title", "Disk"), ("x-priority", "urgent"), ("X-Tags", "warning, disk,"), ("X-Click", "app://x"),
                ("X-Icon", "https://e.org/i.png"), ("X-Attach", "https://e.org/a.png"), ("X-Delay", "30m"),
                ("X-Actions", "view, Open, https://e.org; action=view, label=Log, url=https://e.org/log"),
            ], "full")
        #expect(expected.title == "Disk" && expected.priority == 5 && expected.tags == ["warning", "disk"])
        #expect(expected.moment == Self.now + 1_800_000 && expected.actions.count == 2)
        let short = try read(
            "/t?p=5&In=30m&m=full&ti=%44isk",
            [
                ("ta", "warning,disk"), ("Click", "app://x"), ("Icon", "https://e.org/i.png"),
                ("a", "https://e.org/a.png"),
                (
                    "Action",
                    #"[{"action":"view","label":"Open","url":"https://e.org"},{"action":"view","label":"Log","url":"https://e.org/log"}]"#
                ),
            ])
        #expect(short == expected)
        let json = try read(
            "/", [],
            #"{"topic":"t","title":"Disk","message":"full","priority":5,"tags":["warning","disk"],"click":"app://x","icon":"https://e.org/i.png","attach":"https://e.org/a.png","delay":"30m","actions":[{"action":"view","label":"Open","url":"https://e.org"},{"action":"view","label":"Log","url":"https://e.org/log"}]}"#
        )
        #expect(json == expected)
        // As some clients do: the text in the object, the rest in headers.
        #expect(try read("/", [("X-Priority", "4"), ("Title", "a")], #"{"topic":"t","title":"b"}"#).priority == 4)
        #expect(try read("/", [("Title", "a")], #"{"topic":"t","title":"b"}"#).title == "b")
        let parameters = expected.parameters(groups: ["t"])
        #expect(parameters["group"] == "t" && parameters["imageUrl"] == "https://e.org/a.png")
        #expect(parameters["deepLink"] == "app://x" && parameters["priority"] == "urgent")
        // Without a link of its own it has that of its first action.
        var bare = expected
        bare.click = nil
        #expect(bare.parameters(groups: [])["deepLink"] == "https://e.org")
        #expect(parameters["data"]?["tags"] == "warning,disk")
        #expect(parameters["scheduledAt"] == .integer(Self.now + 1_800_000))
    }

    @Test("a title may be UTF-8, or encoded words")
    func encodedWords() throws {
        for title in ["Häuser", "=?UTF-8?B?SMOkdXNlcg==?=", "=?utf-8?Q?H=C3=A4user?="] {
            #expect(try read("/t", [("Title", title)]).title == "Häuser")
        }
        for title in ["=?UTF-8?B?!!?=", "=?latin1?Q?x?=", "=?", "=?UTF-8?Q?=C?=", "=?UTF-8?Q?=+4?="] {
            #expect(try read("/t", [("Title", title)]).title == title)
        }
        #expect(try read("/t", [("Message", "a\\nb")]).message == "a\nb")
        // The mark stands on the line break, not on the n.
        #expect(try read("/t", [("Message", "a\\n\u{301}b")]).message == "a\n\u{301}b")
    }

    @Test("text that is no UTF-8 is refused wherever it stands")
    func invalidUTF8() {
        #expect(throws: DoorError.notUTF8) { try read("/t", [], bytes: [0x68, 0xff]) }
        #expect(throws: DoorError.notUTF8) { try read("/", [], bytes: [0x7b, 0xff, 0x7d]) }
        #expect(throws: DoorError.notUTF8) { try read("/t?title=%ff") }
        #expect(throws: DoorError.notUTF8) { try read("/t?title=%f") }
        // As Transport repairs it.
        #expect(throws: DoorError.notUTF8) { try read("/t", [("Title", "caf\u{FFFD}")]) }
    }

    @Test("priorities are 1 to 5 or their names")
    func priorities() throws {
        for (text, number) in [("1", 1), ("min", 1), ("2", 2), ("low", 2), ("default", 3), ("4", 4), ("max", 5)] {
            #expect(try read("/t", [("Priority", text)]).priority == number)
        }
        for text in ["0", "6", "-1", "shiny", "3.0"] {
            #expect(throws: DoorError.priority) { try read("/t", [("Priority", text)]) }
        }
        for json in ["6", "-1", "true", "1.5", "[]", "9223372036854775807"] {
            #expect(throws: DoorError.priority) { try read("/", [], #"{"topic":"t","priority":\#(json)}"#) }
        }
    }

    @Test("what is not here is refused in words")
    func missing() {
        for (header, words) in [("Email", "e-mail"), ("Call", "phone"), ("Template", "templating")] {
            let error = #expect(throws: DoorError.self) { try read("/t", [(header, "x")]) }
            #expect(error?.status == 400 && error?.message.contains(words) == true)
        }
        #expect(throws: DoorError.attachmentFile) { try read("/t", [("Filename", "a.jpg")], "bytes") }
        #expect(throws: DoorError.attachmentURL) { try read("/t", [("Attach", "http://e.org/a.png")]) }
        #expect(throws: DoorError.iconURL) { try read("/t", [("Icon", "file:///etc/passwd")]) }
        for actions in [
            "http, Do, https://e.org", "view, Open", "[1]", "view,,x:", String(repeating: "view,a,b:c;", count: 4),
        ] {
            #expect(throws: DoorError.actions) { try read("/t", [("Actions", actions)]) }
        }
    }

    @Test("topics and bodies that are none are refused")
    func malformed() {
        for target in ["/a/b", "/a%20b", "/é", "//", "/" + String(repeating: "a", count: 65)] {
            #expect(throws: DoorError.topic) { try read(target) }
        }
        for body in [
            "", "[]", "{", #"{"message":"x"}"#, #"{"topic":1}"#, #"{"topic":"t","tags":"a"}"#,
            #"{"topic":"t","message":1}"#,
        ] {
            #expect(throws: DoorError.notJSON) { try read("/", [], body) }
        }
        #expect(throws: DoorError.topic) { try read("/", [], #"{"topic":"../x"}"#) }
        #expect(throws: DoorError.tooLarge) { try read("/t", [("Title", String(repeating: "x", count: 1_025))]) }
        #expect(throws: DoorError.tooLarge) { try read("/t", [("Tags", String(repeating: "x,", count: 33))]) }
    }

    @Test("a token's group counts, whatever the topic")
    func groups() throws {
        var publication = try read("/work")
        publication.group = "family"
        #expect(publication.parameters(groups: ["work"])["group"] == "family")
    }
}
