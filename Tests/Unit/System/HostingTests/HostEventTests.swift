import JSON
import Testing

@testable import Hosting

@Suite struct HostEventTests {
    @Test("each event of the library has a name of its own, and is found by it")
    func names() {
        let texts = HostEvent.Name.known.map(\.rawValue)
        #expect(Set(texts).count == texts.count)
        for name in HostEvent.Name.known { #expect(HostEvent.Name(rawValue: name.rawValue) == name) }
        #expect(HostEvent.Name(rawValue: "notification.silent") == .notificationSilent)
    }

    @Test(
        "a topic is host. and letters, digits, dots, dashes and underscores",
        arguments: ["host.a", "host.A-9_z.", "host..", "host." + String(repeating: "x", count: 123)])
    func topic(_ text: String) throws {
        let topic = try #require(HostTopic(text))
        #expect(HostEvent.Name(rawValue: text) == .topic(topic))
        #expect(HostEvent.Name.topic(topic).rawValue == text)
        #expect(!HostEvent.Name.topic(topic).isState)
    }

    @Test(
        "anything else is no event",
        arguments: [
            "", "*", "host", "host.", "Host.a", "hosts.a", " host.a", "host.a b", "host.ä", "host.a\n", "host.*",
            "host.a/b", "notification", "notification.", "notification.received ",
            "host." + String(repeating: "x", count: 124), "host.\u{301}a", "host.a\u{0}",
        ])
    func noEvent(_ text: String) { #expect(HostEvent.Name(rawValue: text) == nil) }
}
