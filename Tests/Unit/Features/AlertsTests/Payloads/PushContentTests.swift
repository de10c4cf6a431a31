import JSON
import Testing
import Wire

@testable import Alerts

@Suite("The alert of a push")
struct PushContentTests {
    private func content(
        subtitle: String? = nil, priority: Priority = .normal, source: NotificationSource = .pc,
        category: String? = nil,
        thread: String? = nil, badge: Int64? = nil, sound: String? = nil, data: JSONObject? = nil,
        deepLink: String? = nil
    ) -> AlertContent {
        AlertContent(
            push: "T", subtitle: subtitle, body: "B", priority: priority, source: source, category: category,
            thread: thread, badge: badge, sound: sound, data: data, deepLink: deepLink)
    }

    @Test("What a push does not say has its defaults")
    func defaults() {
        let plain = content()
        #expect(plain.title == "T" && plain.body == "B" && plain.subtitle == nil && plain.badge == nil)
        #expect(plain.thread == "remote.pc" && plain.category == "REMOTE_NOTIFICATION" && plain.sound == "default")
        #expect(plain.userInfo.isEmpty && plain.deepLink == nil && plain.attachments.isEmpty && plain.level == .active)
        #expect(content(source: .mobile).thread == "remote.mobile")
        #expect(content(subtitle: "", category: "", thread: "", deepLink: "") == plain)
    }

    @Test("What it says is kept; its data is the user info, untouched")
    func said() {
        let data: JSONObject = ["taskID": "42", "nested": ["a": [1, nil]], "deepLink": "app://data"]
        let full = content(
            subtitle: "S", category: "C", thread: "t", badge: 0, sound: "bell", data: data, deepLink: "app://beside")
        #expect(full.subtitle == "S" && full.category == "C" && full.thread == "t" && full.badge == 0)
        #expect(full.sound == "bell" && full.userInfo == data && full.deepLink == "app://beside")
        #expect(content(badge: -1).badge == nil)
    }

    @Test("The deep link is deepLink, else deep_link, of the push or its data")
    func deepLinks() {
        #expect(content(data: ["deepLink": "a", "deep_link": "b"]).deepLink == "a")
        #expect(content(data: ["deep_link": "b"]).deepLink == "b")
        #expect(content(data: ["deepLink": 7, "deep_link": "b"]).deepLink == "b")
        #expect(content(data: ["deepLink": "a"], deepLink: "c").deepLink == "c")
    }

    @Test("The level follows the priority; what is low makes no sound of itself")
    func levels() {
        #expect(content(priority: .urgent).level == .timeSensitive)
        #expect(content(priority: .high).level == .active)
        #expect(content(priority: .low).level == .passive && content(priority: .low).sound == nil)
        #expect(content(priority: .low, sound: "bell").sound == "bell")
    }

    @Test(
        "A sound from elsewhere is a name or the default one, and never a file",
        arguments: [
            ("message-new-instant", "message-new-instant"), ("none", nil), ("", nil), ("default", "default"),
            ("/dev/zero", "default"), ("../../x", "default"), ("chime.caf", "default"),
            ("file:///etc/passwd", "default"),
            ("a b", "default"), ("\u{0}", "default"), ("é", "default"), (String(repeating: "a", count: 65), "default"),
        ] as [(String, String?)])
    func sounds(said: String, expected: String?) {
        #expect(content(sound: said).sound == expected)
    }
}
