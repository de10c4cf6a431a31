import Testing

@testable import Wire

@Suite struct WireIDTests {
    @Test("ids that only look the same are two")
    func bytes() {
        let composed = PeerID("caf\u{e9}")
        let decomposed = PeerID("cafe\u{301}")
        #expect(composed.text == decomposed.text)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
        #expect(Set([composed, PeerID("caf\u{e9}")]).count == 1)
        #expect(NotificationID("\u{212b}") != NotificationID("\u{c5}"))
        #expect(RequestID("1") == "1")
    }
}
