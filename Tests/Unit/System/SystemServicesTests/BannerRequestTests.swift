import Testing

@testable import SystemServices

@Suite("Banners as arguments")
struct BannerRequestTests {
    static let identity = BannerServer.Identity(name: "Desk", icon: "desk-icon", applicationID: "org.example.Desk")

    func request(
        _ banner: Banner, _ capabilities: [String] = ["actions", "body"], version: String = "1.2",
        identity: BannerServer.Identity = BannerRequestTests.identity
    ) -> BannerRequest {
        BannerRequest(
            banner, of: identity,
            for: NotificationServer(
                name: "test", version: NotificationServer.Version(version), capabilities: capabilities))
    }

    func hint(_ request: BannerRequest, _ name: String) -> BusValue? {
        request.hints.first { $0.name == name }?.value
    }

    var rich: Banner {
        Banner(
            id: "1", title: "<b>T</b>", subtitle: "Sub", body: "a & b", tapTitle: "Öffnen",
            actions: [Banner.Action(id: "MARK_READ_ACTION", title: "Mark as read")],
            reply: Banner.Reply(id: "REPLY_ACTION", title: "Reply", placeholder: "Say"))
    }

    @Test("A server that can do nothing gets the text as it is, and no actions")
    func nothing() {
        let request = request(rich, [])
        #expect(request.title == "<b>T</b>" && request.body == "Sub\na & b")
        #expect(request.actions.isEmpty && request.replyID == nil && request.expires == -1)
        #expect(hint(request, "x-kde-reply-placeholder-text") == nil)
    }

    @Test("The body is escaped where markup is read; the title is plain text everywhere")
    func markup() {
        let request = request(rich, ["body-markup"])
        #expect(request.title == "<b>T</b>" && request.body == "Sub\na &amp; b")
    }

    @Test("Actions: the tap first, a reply as a button, or as a text field where there are some")
    func actions() {
        let plain = request(rich, ["actions"])
        #expect(
            plain.actions == [
                "default", "Öffnen", "action.MARK_READ_ACTION", "Mark as read", "action.REPLY_ACTION", "Reply",
            ])
        #expect(plain.replyID == nil)
        let inline = request(rich, ["actions", "inline-reply"])
        #expect(Array(inline.actions.suffix(2)) == ["inline-reply", "Reply"])
        #expect(inline.replyID == "REPLY_ACTION")
        #expect(hint(inline, "x-kde-reply-placeholder-text") == .text("Say"))
        #expect(hint(inline, "x-kde-reply-submit-button-text") == .text("Reply"))
        var question = rich
        question.tapTitle = nil
        #expect(request(question, ["actions"]).actions.first == "action.MARK_READ_ACTION", "there is nothing to open")
        // A reply is an action: without those there is no field either.
        #expect(request(rich, ["inline-reply"]).actions.isEmpty)
    }

    @Test("Ids of actions come back as they were, and are never a server's own words")
    func keys() {
        for id in [
            "default", "inline-reply", "a b]#,\n", "ü", "action.x", "%41", "\u{0}", String(repeating: "x", count: 256),
        ] {
            let key = ActionKey.key(of: id)
            #expect(ActionKey.id(of: key) == id)
            #expect(key.utf8.allSatisfy { $0 > 32 && $0 < 127 } && !key.contains("]"))
        }
        for key in ["default", "action.", "action.%4", "action.%FF", "action.%zz", "", "settings", "action.%C3"] {
            #expect(ActionKey.id(of: key) == nil)
        }
        let banner = Banner(
            id: "1", title: "t",
            actions: [
                Banner.Action(id: "", title: "x"), Banner.Action(id: String(repeating: "y", count: 257), title: "x"),
            ]
                + (0..<20).map { Banner.Action(id: "\($0)", title: "\($0)\n\u{202E}") })
        let actions = request(banner).actions
        #expect(actions.count == 2 * 6 && actions.last == "5 ")
    }

    @Test("Hints: urgency, desktop entry, category, transience")
    func hints() {
        var banner = Banner(id: "1", title: "t", urgency: .critical, category: "im.received", isTransient: true)
        let critical = request(banner)
        #expect(hint(critical, "urgency") == .byte(2) && critical.expires == 0)
        #expect(request(Banner(id: "1", title: "t", isQuestion: true)).expires == 0, "a question waits for its answer")
        #expect(hint(critical, "desktop-entry") == .text("org.example.Desk"))
        #expect(hint(critical, "category") == .text("im.received") && hint(critical, "transient") == .bool(true))
        banner.category = "no such\ncategory"
        banner.urgency = .low
        banner.isTransient = false
        let low = request(banner, identity: BannerServer.Identity(name: "x\ny", applicationID: "../evil"))
        #expect(hint(low, "urgency") == .byte(0) && hint(low, "category") == nil && hint(low, "transient") == nil)
        #expect(hint(low, "desktop-entry") == nil && low.program == "x y" && low.icon == "")
    }

    @Test("A thread is a line for servers that group by it, and nothing for others")
    func threads() {
        func origin(_ thread: String?, _ capabilities: [String] = ["x-kde-origin-name"]) -> BusValue? {
            hint(request(Banner(id: "1", title: "t", thread: thread), capabilities), "x-kde-origin-name")
        }
        #expect(origin("Kitchen") == .text("Kitchen") && origin("Kitchen", ["actions", "body"]) == nil)
        #expect(origin(nil) == nil && origin("") == nil && origin("\u{202E}") == nil)
        #expect(origin("a\nb\u{202E}<c>") == .text("a b<c>"))
        #expect(origin(String(repeating: "x", count: 65)) == .text(String(repeating: "x", count: 63) + "…"))
    }

    @Test("Sounds: none, the theme's, a file; a name with a path in it is none")
    func sounds() {
        func sound(_ sound: Banner.Sound) -> BannerRequest.Hint? {
            request(Banner(id: "1", title: "t", sound: sound)).hints.first { $0.name.contains("sound") }
        }
        #expect(sound(.none) == BannerRequest.Hint(name: "suppress-sound", value: .bool(true)))
        #expect(sound(.standard) == BannerRequest.Hint(name: "sound-name", value: .text("message-new-instant")))
        #expect(sound(.named("bell")) == BannerRequest.Hint(name: "sound-name", value: .text("bell")))
        #expect(sound(.named("../../etc/x")) == sound(.standard))
        #expect(sound(.named("")) == sound(.standard))
        #expect(sound(.file("/a/b c.oga")) == BannerRequest.Hint(name: "sound-file", value: .text("/a/b c.oga")))
        #expect(sound(.file("relative.oga")) == sound(.standard))
        #expect(sound(.file("/a\u{0}b")) == sound(.standard))
        #expect(sound(.file("/a\u{202E}b")) == sound(.standard))
    }

    @Test(
        "An image is a file's address, under the name that the server's version has for it",
        arguments: [
            ("1.2", "image-path"), ("1.3", "image-path"), ("2.0", "image-path"), ("1.10", "image-path"),
            ("nonsense", "image-path"), ("", "image-path"), ("1.1", "image_path"),
        ])
    func images(version: String, name: String) {
        let banner = Banner(id: "1", title: "t", imagePath: "/tmp/ü b%/x.png")
        let request = request(banner, version: version)
        #expect(hint(request, name) == .text("file:///tmp/%C3%BC%20b%25/x.png"))
        #expect(request.icon == "desk-icon")
        #expect(request.hints.filter { $0.name.hasPrefix("image") }.count == 1)
    }

    @Test("A server before 1.1 gets the image as its icon: only a decoder could give it more")
    func oldImages() {
        for version in ["1.0", "0.9"] {
            let request = request(Banner(id: "1", title: "t", imagePath: "/x.png"), version: version)
            #expect(request.icon == "file:///x.png")
            #expect(!request.hints.contains { $0.name.hasPrefix("image") })
        }
        for path in ["x.png", "", "http://x/y.png", "/a\u{0}b"] {
            #expect(hint(request(Banner(id: "1", title: "t", imagePath: path)), "image-path") == nil)
        }
    }

    @Test("The icon: a theme's name or a file, else the application's")
    func icons() {
        let banner = Banner(id: "1", title: "t")
        func icon(_ icon: String?, _ id: String? = nil) -> String {
            request(banner, identity: BannerServer.Identity(name: "n", icon: icon, applicationID: id)).icon
        }
        #expect(icon("mail-unread") == "mail-unread" && icon("/a b.png") == "file:///a%20b.png")
        #expect(icon(nil, "org.example.App") == "org.example.App" && icon(nil) == "" && icon("http://x/y") == "")
    }

    @Test("What a server says of itself may be anything")
    func server() {
        let least = NotificationServer(information: [], capabilities: [.text("x")], life: "l")
        #expect(least.capabilities.isEmpty && least.name == "org.freedesktop.Notifications")
        #expect(least.version == NotificationServer.Version(1, 2))
        let odd = NotificationServer(
            information: [.text("a\u{202E}b"), .text(""), .text(""), .text("1.99999999999")],
            capabilities: [.array([.text("body"), .int32(1), .text(String(repeating: "x", count: 200))], of: "s")],
            life: "l")
        #expect(odd.name == "ab" && odd.capabilities == ["body"])
        #expect(NotificationServer.Version("1") == NotificationServer.Version(1, 0))
        #expect(NotificationServer.Version("0.9") < NotificationServer.Version("1.0"))
        #expect(NotificationServer.Version("1.10") > NotificationServer.Version("1.2"))
        #expect(NotificationServer.Version("0") == NotificationServer.Version(1, 2))
        let many = NotificationServer(
            information: [], capabilities: [.array((0..<500).map { .text("\($0)") }, of: "s")], life: "")
        #expect(many.capabilities.count == 64)
    }

    @Test("Handles go through a text and back; other texts are none")
    func handles() throws {
        for target in [
            BannerServer.Handle.Target.number(7, life: "0123abcd:1.42"), .number(.max, life: "a/b:c"),
            .id("did%3Akey%2F1"),
        ] {
            let handle = BannerServer.Handle(target)
            #expect(BannerServer.Handle(handle.text) == handle)
        }
        for text in [
            "", "number", "number/0/x", "number/7/", "number/07/x", "number/-1/x", "number/4294967296/x", "id/", "id/%",
            "id/a/b", "other/1/x", "number/7/" + String(repeating: "x", count: 5_000),
        ] {
            #expect(BannerServer.Handle(text) == nil, "\(text.prefix(40))")
        }
    }

    // MARK: org.gtk.Notifications

    @Test("GNOME's form: plain text, actions of ours with the banner's id, and what comes back is what went")
    func gtk() throws {
        let id = "did:key:z6Mk/push 1\u{0}ü"
        let encoded = try #require(GTKBannerRequest.encoded(id))
        var banner = rich
        banner.imagePath = "/a.png"
        banner.urgency = .critical
        guard case .array(let entries, "{sv}") = GTKBannerRequest.notification(banner, id: encoded) else {
            throw BusError(.malformed, "no dictionary")
        }
        func value(_ name: String) -> BusValue? {
            for case .entry(.text(name), .variant(let value)) in entries { return value }
            return nil
        }
        #expect(value("title") == .text("<b>T</b>") && value("body") == .text("Sub\na & b"))
        #expect(value("priority") == .text("urgent") && value("default-action") == .text("app.bellwire-default"))
        #expect(value("icon") == .structure([.text("file"), .variant(.text("file:///a.png"))]))
        let target = try #require(value("default-action-target"))
        let tap = GTKBannerRequest.answer("bellwire-default", [.variant(target)])
        #expect(tap?.id == id && tap?.action == "default")
        guard case .array(let buttons, "a{sv}")? = value("buttons") else { throw BusError(.malformed, "no buttons") }
        #expect(buttons.count == 2)
        guard case .array(let button, "{sv}")? = buttons.last else { throw BusError(.malformed, "no button") }
        for case .entry(.text("target"), .variant(let target)) in button {
            let answer = GTKBannerRequest.answer("bellwire-action", [.variant(target)])
            #expect(answer?.id == id && answer?.action == "REPLY_ACTION")
        }
        banner.tapTitle = nil
        guard case .array(let others, _) = GTKBannerRequest.notification(banner, id: encoded) else {
            throw BusError(.malformed, "no dictionary")
        }
        #expect(others.count == entries.count - 2, "a click means nothing")
        #expect(
            GTKBannerRequest.encoded("") == nil && GTKBannerRequest.encoded(String(repeating: "x", count: 1_025)) == nil
        )
    }

    @Test("Calls that are none of ours, or were made up, answer nothing")
    func gtkHostile() {
        let good = BusValue.variant(.structure([.text("1"), .text("default")]))
        #expect(GTKBannerRequest.answer("bellwire-default", [good]) != nil)
        let bad: [(String, [BusValue])] = [
            ("bellwire-default", []), ("quit", [good]), ("bellwire-action", [good]),
            ("bellwire-default", [.text("1")]), ("bellwire-default", [.variant(.text("1"))]),
            ("bellwire-default", [.variant(.structure([.text("1")]))]),
            ("bellwire-default", [.variant(.structure([.text(""), .text("default")]))]),
            ("bellwire-default", [.variant(.structure([.text("1"), .text("action.x")]))]),
            ("bellwire-default", [.variant(.structure([.text("%"), .text("default")]))]),
            (
                "bellwire-default",
                [.variant(.structure([.text(String(repeating: "x", count: 4_000)), .text("default")]))]
            ),
            ("bellwire-action", [.variant(.structure([.text("1"), .text("action.")]))]),
        ]
        for (name, parameters) in bad { #expect(GTKBannerRequest.answer(name, parameters) == nil) }
    }

    @Test(
        "Names of programs",
        arguments: [
            ("org.example.App", true), ("org.example.My-App_2", true), ("a.b", true), ("app", false), ("", false),
            (".a", false), ("a.", false), ("a..b", false), ("a.2b", false), ("a.b c", false), ("a.ü", false),
            ("a.b/../c", false), (":1.2", false), ("a." + String(repeating: "b", count: 254), false),
        ])
    func applicationIDs(text: String, isOne: Bool) {
        #expect((ApplicationID(text) != nil) == isOne)
    }

    @Test("The path of a program's object")
    func applicationPath() {
        #expect(ApplicationID("org.example.My-App")?.path == "/org/example/My_App")
    }
}
