import Alerts
import JSON
import Testing

@Suite struct DigestTests {
    private func alerts(_ count: Int) -> [AlertContent] {
        (0..<count).map { AlertContent(title: "title \($0)", body: "secret") }
    }

    @Test("it says how many there were, and names the first few")
    func texts() {
        let one = Digest.content(of: alerts(1), count: 1, hold: .quietHours)
        #expect(one.title == "1 notification during quiet hours" && one.body == "title 0")
        let five = Digest.content(of: alerts(5), count: 5, hold: .late)
        #expect(five.title == "5 notifications while you were away")
        #expect(five.body == "title 0\ntitle 1\ntitle 2\ntitle 3\ntitle 4")
        let many = Digest.content(of: alerts(5), count: 17, hold: .quietHours)
        #expect(many.title == "17 notifications during quiet hours" && many.body.hasSuffix("\ntitle 4\nand 12 more"))
        #expect(many.userInfo == ["digest": "quiet_hours", "count": 17] && many.sound == "default")
        #expect(!many.body.contains("secret") && many.level == .active)
        let eight = Digest.content(of: alerts(8), count: 0, hold: .quietHours)
        #expect(eight.title.hasPrefix("8 ") && eight.body.hasSuffix("and 3 more"))
        #expect(Digest.content(of: [], count: 3, hold: .late).body == "")
        let urgent = Digest.content(
            of: alerts(2) + [AlertContent(title: "Fire", level: .timeSensitive)], count: 3, hold: .tooMany)
        #expect(urgent.level == .timeSensitive, "as urgent as the alerts in it")
    }

    @Test("a title is one line of it, however long it is and whatever is in it")
    func hostile() {
        let titles = ["a\nb\r\nc\u{0}d\u{2028}e", String(repeating: "long ", count: 200_000), ""]
        let digest = Digest.content(of: titles.map { AlertContent(title: $0) }, count: 3, hold: .quietHours)
        let lines = digest.body.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 3 && lines.first == "a b  c d e")
        #expect(lines.dropFirst().first?.count == 101 && lines.dropFirst().first?.hasSuffix("…") == true)
        #expect(digest.body.utf8.count < 1_000)
    }
}
