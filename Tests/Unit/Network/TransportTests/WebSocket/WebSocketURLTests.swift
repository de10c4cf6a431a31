import Testing

@testable import Transport

@Suite("WebSocket addresses")
struct WebSocketURLTests {
    @Test("An address gives its parts, and an origin that names the port")
    func parts() throws {
        let url = try WebSocketURL("ws://192.168.1.5:9001")
        #expect(url.origin == "ws://192.168.1.5:9001")
        #expect(url.path == "/")
        #expect(!url.isSecure)
        let secure = try WebSocketURL("WSS://Relay.Example/signal?x=1")
        #expect(secure.origin == "wss://relay.example:443")
        #expect(secure.path == "/signal?x=1")
        #expect(secure.hostHeader == "relay.example")
        let six = try WebSocketURL("ws://[::1]:9001/")
        #expect(six.host == "::1")
        #expect(six.origin == "ws://[::1]:9001")
    }

    @Test(
        "What is no such address is refused by name",
        arguments: [
            "", "ws://", "http://a", "a", "ws://a b", "ws://a\r\nb", "ws://user:pw@host", "ws://host#part",
            "ws://host:0",
            "ws://host:65536", "ws://höst", "ws:host", "ws://[::1", "//host",
        ])
    func refused(text: String) {
        #expect {
            _ = try WebSocketURL(text)
        } throws: {
            ($0 as? TransportError)?.code == .invalidURL
        }
    }

    @Test("A long address is refused")
    func long() {
        #expect(throws: TransportError.self) { _ = try WebSocketURL("ws://a/" + String(repeating: "x", count: 70_000)) }
    }
}
