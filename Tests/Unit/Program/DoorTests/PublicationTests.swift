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
        _ target: String, _ headers: [(String, String)] = [], bytes: [UInt8], method: String = "POST"
    ) throws(DoorError) -> Publication {
        let head = HTTPRequestHead(
            method: method, target: target, headers: headers.map { .init(name: $0.0, value: $0.1) },
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
        for title in [
            "=?UTF-8?B?!!?=", "=?klingon?Q?x?=", "=?", "=?UTF-8?Q?=C?=", "=?UTF-8?Q?=+4?=", "=?UTF-8?Q?x", "=??Q?x?=",
            "=?UTF 8?Q?x?=", "=?UTF-8?X?x?=", "a =?UTF-8?Q?x=?= b",
        ] {
            #expect(try read("/t", [("Title", title)]).title == title)
        }
        #expect(try read("/t", [("Message", "a\\nb")]).message == "a\nb")
        // The mark stands on the line break, not on the n.
        #expect(try read("/t", [("Message", "a\\n\u{301}b")]).message == "a\n\u{301}b")
    }

    @Test(
        "encoded words stand beside plain text and each other, in any character set and with a language",
        arguments: [
            ("Disk =?UTF-8?B?R3LDtsOfZQ==?=", "Disk Größe"), ("=?UTF-8?B?R3LDtsOfZQ==?= of disk", "Größe of disk"),
            ("=?UTF-8?B?R3LDtsOfZQ?=", "Größe"), ("(=?UTF-8?Q?a?=)", "(a)"), ("=?UTF-8?Q?a?= =?UTF-8?Q?b?=", "ab"),
            ("=?UTF-8?Q?a?=\t =?UTF-8?Q?_b?=  c", "a b  c"), ("=?UTF-8*de?Q?Gr=C3=B6=C3=9Fe?=", "Größe"),
            ("=?utf-8?q?Gr=C3?= =?utf-8?b?tsOfZQ==?=", "Größe"), ("=?iso-8859-1?q?Gr=F6=DFe?=", "Größe"),
            ("=?ISO-8859-15?Q?5_=A4?=", "5 €"), ("=?windows-1252?Q?5_=80_=93x=94?=", "5 € “x”"),
            ("=?us-ascii?Q?plain?= =?latin1?Q?=E9?=", "plainé"), ("=?KOI8-R?B?8NLJ18XU?=", "Привет"),
            ("=?ISO-2022-JP?B?GyRCRnxLXBsoQg==?=", "日本"), ("=?gb2312?B?1tDOxA==?=", "中文"),
            ("=?windows-1251?Q?=CF?=", "П"), ("=?ISO-8859-2?Q?=B1?=", "ą"), ("=?UTF-8?Q?=FF?=", "\u{FFFD}"),
        ])
    func mixedWords(_ value: String, _ text: String) throws {
        #expect(try read("/t", [("Title", value)]).title == text)
    }

    @Test("encoded words are read in each header that has text")
    func wordsEverywhere() throws {
        let publication = try read(
            "/t",
            [
                ("Message", "=?UTF-8?Q?a=C3=A4?="), ("Tags", "=?UTF-8?Q?=C3=A4,b?=, c"),
                ("Click", "https://e.org/=?UTF-8?Q?=C3=A4?="), ("Icon", "=?UTF-8?Q?https://e.org/i?="),
                ("Attach", "=?UTF-8?B?aHR0cHM6Ly9lLm9yZy9h?="), ("Category", "=?iso-8859-1?Q?=E4?="),
                ("Actions", "view, =?UTF-8?B?w5ZmZm5lbg==?=, https://e.org"), ("Priority", "=?UTF-8?Q?high?="),
            ])
        #expect(publication.message == "aä" && publication.tags == ["ä", "b", "c"] && publication.category == "ä")
        #expect(publication.click == "https://e.org/ä" && publication.icon == "https://e.org/i")
        #expect(publication.attachment == "https://e.org/a" && publication.priority == 4)
        #expect(publication.actions.first?.label == "Öffnen")
        // Only headers have them.
        #expect(try read("/t?title=%3D%3FUTF-8%3FQ%3Fx%3F%3D").title == "=?UTF-8?Q?x?=")
    }

    @Test("a body that is not UTF-8 is converted: as it declares, or as it looks")
    func characterSets() throws {
        let latin: [UInt8] = [0x47, 0x72, 0xf6, 0xdf, 0x65]
        #expect(try read("/t", [], bytes: latin).message == "Größe")
        for type in [
            "text/plain; charset=iso-8859-1", "text/plain;Charset=\"ISO-8859-1\"", "text/plain; charset=x-none",
        ] {
            #expect(try read("/t", [("Content-Type", type)], bytes: latin).message == "Größe")
        }
        #expect(try read("/t", [("Content-Type", "text/plain; charset=koi8-r")], bytes: [0xf0]).message == "П")
        #expect(try read("/t", [("Content-Type", "text/plain; charset=utf-8")], bytes: latin).message == "Größe")
        #expect(
            try read("/", [], bytes: Array(#"{"topic":"t","message":""#.utf8) + latin + Array("\"}".utf8)).message
                == "Größe")
        // As Transport reads it.
        #expect(try read("/t", [("Title", "5 \u{80}")]).title == "5 €")
        #expect(try read("/t", [("Title", "caf\u{FFFD}")]).title == "caf\u{FFFD}")
        for (query, text) in [
            ("gr%F6%DFe", "größe"), ("%ff", "ÿ"), ("%f", "%f"), ("disk+91%", "disk 91%"), ("100%+done", "100% done"),
            ("%%41%zz", "%A%zz"), ("%+1", "% 1"), ("%EF%BB%BFa", "\u{FEFF}a"),
        ] {
            #expect(try read("/t?title=\(query)&m=x").title == text, "\(query)")
        }
    }

    @Test("a message that is too long loses its middle")
    func longMessages() throws {
        let text = "begin" + String(repeating: "ä", count: 65_536) + "end"
        for message in [
            try read("/t", [], text).message, try read("/", [], #"{"topic":"t","message":"\#(text)"}"#).message,
        ] {
            #expect(message.utf8.count <= 65_536 && message.hasPrefix("beginä") && message.hasSuffix("äend"))
            #expect(message.contains("bytes left out"))
        }
    }

    @Test("a surrogate without its other half costs one character, not the notification")
    func surrogates() throws {
        for (text, expected) in [
            (#"cut \ud83d"#, "cut \u{FFFD}"), (#"\udE00x"#, "\u{FFFD}x"), (#"\ud83d\ud83d\ude00"#, "\u{FFFD}😀"),
            (#"\\ud83d"#, "\\ud83d"),
        ] {
            #expect(try read("/", [], #"{"topic":"t","message":"\#(text)"}"#).message == expected)
        }
    }

    @Test("what can't be shown is refused for its true reason")
    func reasons() throws {
        for (headers, body, words) in [
            ([("Content-Encoding", "gzip")], "x", "gzip"),
            ([("Content-Type", "multipart/form-data; boundary=x")], "x", "multipart"),
            ([("Markdown", "yes")], "x", "markdown"), ([("Content-Type", "text/markdown")], "x", "markdown"),
            ([("Title", String(repeating: "x", count: 1_025))], "x", "title"),
            ([("Click", String(repeating: "x", count: 4_097))], "x", "click"),
        ] as [([(String, String)], String, String)] {
            let error = #expect(throws: DoorError.self) { try read("/t", headers, body) }
            #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        }
        for (body, words) in [
            (#"{"topic":"t","title":5}"#, "title"), (#"{"topic":5}"#, "topic"), (#"{"topic":"t","tags":"a"}"#, "tags"),
            (#"{"topic":"t","markdown":true}"#, "markdown"), ("{", "JSON"), ("[]", "object"),
            (#"{"topic":"t","markdown":"true"}"#, "markdown"), (#"{"topic":"t","markdown":1}"#, "markdown"),
            (#"{"topic":"t","markdown":"yes"}"#, "markdown"), (#"{"topic":"t","template":"yes"}"#, "templating"),
            (#"{"topic":"t","template":true}"#, "templating"), (#"{"topic":"t","template":"github"}"#, "templating"),
        ] {
            let error = #expect(throws: DoorError.self) { try read("/", [], body) }
            #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        }
        #expect(throws: DoorError.attachmentFile) {
            try read("/t", [("Content-Type", "image/png")], bytes: [0x89, 0x50, 0xff])
        }
        for encoding in ["identity", "utf-8", "UTF8", "ISO-8859-1", "8bit", ""] {
            #expect(try read("/t", [("Markdown", "no"), ("Content-Encoding", encoding)], "x").message == "x")
        }
        for off in ["false", "\"no\"", "0", "null", "\"\""] {
            let body = #"{"topic":"t","message":"x","markdown":\#(off),"template":\#(off)}"#
            #expect(try read("/", [], body).message == "x")
        }
        #expect(try read("/t", [("Template", "no")], "x").message == "x")
    }

    @Test("a message beside a body loses neither; a file's name alone names none")
    func messages() throws {
        #expect(try read("/t", [("Message", "a\\nb")], "body").message == "a\nb\nbody")
        #expect(try read("/t?message=a", [], "body\n").message == "a\nbody\n")
        #expect(try read("/t?m=a", [], "\r\n").message == "a")
        #expect(try read("/t", [("Message", "a"), ("Filename", "x.txt")]).message == "a")
        let object = #"{"topic":"t","message":"a","filename":"y.txt"}"#
        #expect(try read("/", [("Filename", "x.txt")], object).message == "a")
        #expect(throws: DoorError.attachmentFile) { try read("/t", [("Message", "a"), ("Filename", "x.txt")], "body") }
        #expect(throws: DoorError.attachmentFile) {
            try read("/t", [("Message", "a"), ("Content-Type", "image/png")], bytes: [0x89, 0x50, 0xff])
        }
    }

    @Test("a webhook that can only GET publishes at /topic/publish")
    func webhooks() throws {
        for end in ["publish", "send", "trigger"] {
            let publication = try read("/t/\(end)?message=a+b&priority=4", [], bytes: [], method: "GET")
            #expect(publication.topic == "t" && publication.message == "a b" && publication.priority == 4)
        }
        #expect(throws: DoorError.topic) { try read("/t/publish", [], "x") }
    }

    @Test("priorities are 1 to 5 or their names")
    func priorities() throws {
        for (text, number) in [("1", 1), ("min", 1), ("2", 2), ("low", 2), ("default", 3), ("4", 4), ("max", 5)] {
            #expect(try read("/t", [("Priority", text)]).priority == number)
        }
        for text in ["0", "6", "-1", "shiny", "3.0", "v=3"] {
            #expect(throws: DoorError.priority) { try read("/t", [("Priority", text)]) }
        }
        // Of RFC 9218, which is about the request.
        for text in [
            "u=3", "u=3, i", "i", "u=1,i=?0", "u=7;x=1", " u=2 , i=?1, new=4", "U=3", "foo=?1", "foo=?0;a=1, bar = ?1",
        ] {
            #expect(try read("/t", [("Priority", text)]).priority == 3)
            #expect(try read("/t?p=5", [("priority", text)]).priority == 5)
            #expect(try read("/t", [("Priority", text), ("X-Priority", "4")]).priority == 4)
            #expect(try read("/t", [("Priority", text), ("Priority", "4")]).priority == 4)
            #expect(try read("/t", [("Priority", "4, \(text)")]).priority == 4)
        }
        #expect(throws: DoorError.priority) { try read("/t", [("X-Priority", "u=3")]) }
        for (json, number) in [("4.0", 4), ("0.0", 3), ("5e0", 5), ("\"high\"", 4)] {
            #expect(try read("/", [], #"{"topic":"t","priority":\#(json)}"#).priority == number)
        }
        #expect(try read("/", [], #"{"topic":"t","delay":30.0}"#).moment == Self.now + 30_000)
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
            #expect(#expect(throws: DoorError.self) { try read("/", [], body) }?.code == 40017)
        }
        #expect(throws: DoorError.topic) { try read("/", [], #"{"topic":"../x"}"#) }
        #expect(throws: DoorError.tooLong("title", 1_024)) {
            try read("/t", [("Title", String(repeating: "x", count: 1_025))])
        }
        #expect(throws: DoorError.tooManyTags) { try read("/t", [("Tags", String(repeating: "x,", count: 33))]) }
    }

    @Test("parts of an action may have a name, quotes, commas and semicolons")
    func quotedActions() throws {
        let expected = [
            #"view, "Open, now; \"here\"", 'https://e.org/?a=1,2;b'"#,
            #"action=view, url="https://e.org/?a=1,2;b", label='Open, now; "here"', clear=true"#,
        ]
        for text in expected {
            let action = try #require(try read("/t", [("Actions", text + "; view, b, c:d")]).actions.first)
            #expect(action.json["label"] == #"Open, now; "here""# && action.json["url"] == "https://e.org/?a=1,2;b")
        }
        #expect(try read("/t", [("Actions", "view, A=B, https://e.org?a=b;")]).actions.first?.json["label"] == "A=B")
        for text in [
            "view, Map, geo:47.6,9.4", "view, Open, https://e.org/a,b", "view, Open, https://e.org, true",
            "view, a, label=b, c:d, e:f",
        ] {
            let error = #expect(throws: DoorError.actionParts) { try read("/t", [("Actions", text)]) }
            #expect(error?.status == 400 && error?.message.contains("quotes") == true)
        }
        let json = #"[{"action":"View","label":"x \ud83d","url":"https://e.org"}]"#
        for read in [
            try read("/t", [("Actions", json)]), try read("/", [], #"{"topic":"t","actions":\#(json)}"#),
        ] {
            #expect(read.actions.first?.json["label"] == "x \u{FFFD}")
        }
        for text in [
            #"view, "Open, https://e.org"#, #"view, "Open" now, https://e.org"#, #"view, "a", "#, "view, 'a\\'",
        ] {
            #expect(throws: DoorError.actions) { try read("/t", [("Actions", text)]) }
        }
    }

    @Test("a token's group counts, whatever the topic")
    func groups() throws {
        var publication = try read("/work")
        publication.group = "family"
        #expect(publication.parameters(groups: ["work"])["group"] == "family")
    }
}
