import TestSupport
import Testing

@testable import Transport

@Suite("Connecting")
struct ConnectTests {
    @EventLoop
    private func failure(
        _ url: String, _ change: (inout WebSocketClientOptions) -> Void = { _ in }
    ) async throws -> TransportError {
        var options = WebSocketClientOptions()
        change(&options)
        let delegate = Listener()
        let webSocket = WebSocket.connect(to: try WebSocketURL(url), options: options, delegate: delegate)
        #expect(delegate.heard.isEmpty)
        let reason = try await delegate.end()
        #expect(!webSocket.isOpen)
        #expect(reason.code == nil && !reason.byPeer)
        return try #require(reason.error)
    }

    @Test("A port where nobody listens is refused by name, on each family")
    @EventLoop
    func refused() async throws {
        let server = try RawServer()
        let port = server.port
        server.close()
        for host in ["127.0.0.1", "localhost"] {
            let error = try await failure("ws://\(host):\(port)")
            #expect(error.code == .connectFailed)
            #expect(error.message.contains("connection refused"))
        }
    }

    @Test("A server that never answers runs into the limit, and the step is named")
    @EventLoop
    func silent() async throws {
        let server = try RawServer()
        defer { server.close() }
        let plain = try await failure("ws://127.0.0.1:\(server.port)") { $0.connectTimeout = 1_000 }
        #expect(plain.code == .timeout)
        #expect(plain.message.contains("upgrade"))
        let secure = try await failure("wss://127.0.0.1:\(server.port)") { $0.connectTimeout = 1_000 }
        #expect(secure.code == .timeout)
        #expect(secure.message.contains("TLS handshake"))
    }

    @Test("A server that hangs up before the upgrade is told")
    @EventLoop
    func hangsUp() async throws {
        let server = try RawServer()
        defer { server.close() }
        let error = Mailbox<TransportError.Code>()
        let port = server.port
        let task = Task { @EventLoop in error.put(try await failure("ws://127.0.0.1:\(port)").code) }
        let peer = try await server.peers.next()
        _ = try await peer.waitForHead()
        peer.close()
        #expect(try await error.next() == .upgradeRefused)
        try await task.value
    }

    @Test(
        "An answer that is no upgrade is told with its status",
        arguments: [
            ("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", TransportError.Code.upgradeRefused, "404"),
            (
                "HTTP/1.1 101 Fine\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n",
                .upgradeRefused, "Accept"
            ),
            ("SSH-2.0-OpenSSH\r\n\r\n", .upgradeRefused, "does not speak WebSocket"),
        ])
    @EventLoop
    func wrongAnswer(answer: String, code: TransportError.Code, part: String) async throws {
        let server = try RawServer()
        defer { server.close() }
        let error = Mailbox<TransportError>()
        let port = server.port
        let task = Task { @EventLoop in error.put(try await failure("ws://127.0.0.1:\(port)")) }
        let peer = try await server.peers.next()
        _ = try await peer.waitForHead()
        peer.send(answer)
        let came = try await error.next()
        #expect(came.code == code)
        #expect(came.message.contains(part), "\(came.message)")
        try await task.value
    }

    @Test("localhost with only IPv4 listening connects")
    @EventLoop
    func happyEyeballs() async throws {
        let server = try TestServer(host: "127.0.0.1")
        defer { server.close() }
        let delegate = Listener()
        let webSocket = WebSocket.connect(to: try server.url("localhost"), delegate: delegate)
        #expect(try await delegate.heard.next() == .open)
        #expect(webSocket.remote.host == "127.0.0.1")
        webSocket.abort()
    }

    @Test("A name that does not exist is told as such, by way of the system's look-up")
    @EventLoop
    func unknownName() async throws {
        let error = try await failure("ws://no-such-host.invalid:9001")
        #expect(error.code == .resolveFailed)
        #expect(error.message.contains("no-such-host.invalid"))
    }

    @Test("Closing or aborting a connect ends it in order", arguments: [true, false])
    @EventLoop
    func cancelled(byAbort: Bool) async throws {
        let server = try RawServer()
        defer { server.close() }
        let delegate = Listener()
        let webSocket = WebSocket.connect(to: try WebSocketURL("ws://127.0.0.1:\(server.port)"), delegate: delegate)
        if byAbort { webSocket.abort() } else { webSocket.close() }
        #expect(delegate.heard.isEmpty)
        #expect(try await delegate.heard.next() == .closed(code: nil, error: nil, byPeer: false))
    }

    @Test("A CA file that is not there ends the connect with its name")
    @EventLoop
    func noCAFile() async throws {
        let error = try await failure("wss://127.0.0.1:1") { $0.tls.caFile = "/nowhere/ca.pem" }
        #expect(error.code == .tlsFailed)
        #expect(error.message.contains("/nowhere/ca.pem"))
    }
}
