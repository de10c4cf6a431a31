import TestSupport
import Testing

@testable import Transport

@Suite("Peers with manners of their own")
struct PeerMannersTests {
    /// A client of plain bytes, upgraded to one of our server's sockets.
    @EventLoop
    private func rawClient(
        _ change: (inout HTTPListenerOptions) -> Void = { _ in }
    ) async throws -> (server: TestServer, peer: RawPeer, accepted: TestServer.Accepted) {
        var options = HTTPListenerOptions()
        change(&options)
        let server = try TestServer(options: options)
        let peer = try await RawPeer.dial(server.port)
        try await peer.upgrade()
        return (server, peer, try await server.sockets.next())
    }

    @Test(
        "A fault is answered by its close code, and the delegate hears why",
        arguments: [
            ("82 81 00 00 00 00 61", 1003, "binary_message"),
            ("81 82 00 00 00 00 c3 28", 1007, "not_utf8"),
            ("81 ff 00 00 00 00 00 10 00 01 00 00 00 00 61", 1009, "message_too_big"),
            ("81 01 61", 1002, "protocol_error"),
        ] as [(String, UInt16, String)])
    @EventLoop
    func faults(bytes: String, code: UInt16, error: String) async throws {
        let (server, peer, accepted) = try await rawClient()
        defer { server.close() }
        peer.send(hex(bytes))
        let answer = try await peer.wait { $0.count >= 4 }
        #expect(answer == [0x88, 2, UInt8(code >> 8), UInt8(code & 0xff)])
        #expect(try await accepted.listener.heard.next() == .closed(code: code, error: error, byPeer: false))
        peer.close()
    }

    @Test("A ping in the middle of a fragmented message is answered at once")
    @EventLoop
    func pingBetweenFragments() async throws {
        let (server, peer, accepted) = try await rawClient()
        defer { server.close() }
        peer.send(maskedText(Array("Hel".utf8), first: 0x01) + hex("89 82 00 00 00 00 68 69"))
        #expect(try await peer.wait { $0.count >= 4 } == hex("8a 02 68 69"))
        #expect(accepted.listener.heard.isEmpty)
        peer.send(maskedText(Array("lo".utf8), first: 0x80))
        #expect(try await accepted.listener.heard.next() == .text("Hello"))
        peer.close()
    }

    @Test(
        "Pings, pongs and empty fragments that keep coming end the connection; a burst of them does not",
        arguments: [("8a 80", false), ("89 80", false), ("00 80", true)])
    @EventLoop
    func floods(frame: String, isFragment: Bool) async throws {
        let (server, peer, accepted) = try await rawClient { $0.webSocket.maximumMinorFrames = 100 }
        defer { server.close() }
        if isFragment { peer.send(maskedText(Array("a".utf8), first: 0x01)) }
        let minor = hex(frame + " 00 00 00 00")
        for _ in 0..<499 { peer.send(minor) }
        peer.send(isFragment ? maskedText(Array("b".utf8), first: 0x80) : maskedText(Array("ab".utf8)))
        #expect(try await accepted.listener.heard.next() == .text("ab"))
        for _ in 0..<1_000 { peer.send(minor) }
        #expect(
            try await accepted.listener.heard.next()
                == .closed(code: 1_008, error: isFragment ? "protocol_error" : "too_many_frames", byPeer: false)
                || isFragment)
        peer.close()
    }

    @Test("A message that takes too long ends its connection, whatever else comes; so does one that takes too much")
    @EventLoop
    func unfinished() async throws {
        let (server, slow, accepted) = try await rawClient {
            $0.receiving = ReceiveLimits(bytes: 200_000, bytesPerNetwork: 1_000, limitsLoopback: false, time: 1)
        }
        defer { server.close() }
        slow.send(maskedText(Array("a".utf8), first: 0x01) + hex("89 80 00 00 00 00"))
        #expect(
            try await accepted.listener.heard.next()
                == .closed(code: 1_008, error: "unfinished_message", byPeer: false))
        #expect(server.http?.unfinishedBytes == 0)
        slow.close()

        let (other, first, firstAccepted) = try await rawClient {
            $0.receiving = ReceiveLimits(bytes: 200_000, bytesPerNetwork: 1_000, limitsLoopback: false, time: 60_000)
        }
        defer { other.close() }
        first.send(maskedText(Array(repeating: 0x61, count: 90_000), first: 0x01))
        try await until("the message is held") { (other.http?.unfinishedBytes ?? 0) >= 90_000 }
        let second = try await RawPeer.dial(other.port)
        try await second.upgrade()
        let secondAccepted = try await other.sockets.next()
        second.send(maskedText(Array(repeating: 0x61, count: 90_000), first: 0x01))
        #expect(
            try await firstAccepted.listener.heard.next()
                == .closed(code: 1_013, error: "receive_budget", byPeer: false))
        second.send(maskedText(Array("b".utf8), first: 0x80))
        guard case .text(let text) = try await secondAccepted.listener.heard.next() else {
            Issue.record("the second message did not arrive")
            return
        }
        #expect(text.utf8.count == 90_001 && other.http?.unfinishedBytes == 0)
        first.close()
        second.close()
    }

    @Test("Frames that come with the upgrade itself are not lost")
    @EventLoop
    func earlyFrames() async throws {
        let server = try TestServer()
        defer { server.close() }
        let peer = try await RawPeer.dial(server.port)
        peer.send(
            Array(
                ("GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n").utf8)
                + maskedText(Array("early".utf8)))
        #expect(try await server.sockets.next().listener.heard.next() == .text("early"))
        peer.close()
    }

    @Test("A close frame is answered with the same code and the end of the connection")
    @EventLoop
    func closed() async throws {
        let (server, peer, accepted) = try await rawClient()
        defer { server.close() }
        peer.send(hex("88 82 00 00 00 00 0f a0"))
        #expect(try await peer.waitForEnd() == hex("88 02 0f a0"))
        #expect(try await accepted.listener.heard.next() == .closed(code: 4_000, error: nil, byPeer: true))
        peer.close()
    }

    @Test("A close frame without code is answered without code, and reported as 1005")
    @EventLoop
    func closedWithoutCode() async throws {
        let (server, peer, accepted) = try await rawClient()
        defer { server.close() }
        peer.send(hex("88 80 00 00 00 00"))
        #expect(try await peer.waitForEnd() == hex("88 00"))
        #expect(try await accepted.listener.heard.next() == .closed(code: 1005, error: nil, byPeer: true))
        peer.close()
    }

    @Test("A peer that never answers our close frame is left after the limit, by name")
    @EventLoop
    func closeTimeout() async throws {
        let (server, peer, accepted) = try await rawClient { $0.webSocket.closeTimeout = 50 }
        defer { server.close() }
        accepted.webSocket.close(code: 1001)
        #expect(try await accepted.listener.heard.next() == .closed(code: 1001, error: "timeout", byPeer: false))
        #expect(try await peer.waitForEnd() == hex("88 02 03 e9"))
        peer.close()
    }

    @Test("Messages after our close frame are dropped, the peer's close frame is not")
    @EventLoop
    func messagesAfterClose() async throws {
        let (server, peer, accepted) = try await rawClient()
        defer { server.close() }
        accepted.webSocket.close()
        peer.send(maskedText(Array("late".utf8)) + hex("88 82 00 00 00 00 03 e8"))
        #expect(try await accepted.listener.heard.next() == .closed(code: 1000, error: nil, byPeer: false))
        peer.close()
    }

    @Test("Closing while reading is paused still finds the peer's close frame behind the messages that waited")
    @EventLoop
    func closePaused() async throws {
        let (server, peer, accepted) = try await rawClient()
        defer { server.close() }
        let paused = Mailbox<Bool>()
        accepted.listener.onText = { webSocket, _ in
            webSocket.pauseReading()
            paused.put(true)
        }
        peer.send(
            maskedText(Array("one".utf8)) + maskedText(Array("two".utf8)).dropLast(1)
                + maskedText(Array("two".utf8)).suffix(1) + hex("88 82 00 00 00 00 03 e8"))
        _ = try await paused.next()
        accepted.webSocket.close(code: 1001)
        #expect(try await accepted.listener.heard.next() == .closed(code: 1001, error: nil, byPeer: false))
        #expect(paused.isEmpty)
        peer.close()
    }

    @Test("A missing pong ends the connection by name, for a server and for a client")
    @EventLoop
    func missingPong() async throws {
        let (server, peer, accepted) = try await rawClient {
            $0.webSocket.pingInterval = 10
            $0.webSocket.pongTimeout = 40
        }
        defer { server.close() }
        #expect(try await accepted.listener.heard.next() == .closed(code: nil, error: "pong_missing", byPeer: false))
        let bytes = try await peer.waitForEnd()
        #expect(bytes.prefix(2) == [0x89, 8])
        peer.close()

        let raw = try RawServer()
        defer { raw.close() }
        var options = WebSocketClientOptions()
        options.webSocket.pingInterval = 10
        options.webSocket.pongTimeout = 40
        let delegate = Listener()
        _ = WebSocket.connect(to: try WebSocketURL("ws://127.0.0.1:\(raw.port)"), options: options, delegate: delegate)
        let other = try await raw.peers.next()
        let head = try await other.waitForHead()
        let key = try #require(
            head.split(separator: "\r\n").first { $0.hasPrefix("Sec-WebSocket-Key: ") }?.dropFirst(19))
        other.send(WebSocketUpgrade.agreement(key: String(key)))
        #expect(try await delegate.heard.next() == .open)
        #expect(try await delegate.heard.next() == .closed(code: nil, error: "pong_missing", byPeer: false))
        other.close()
    }

    @Test("Whole messages that arrive before a pong keep the connection, until they end")
    @EventLoop
    func messagesBeforePong() async throws {
        let (server, peer, accepted) = try await rawClient {
            $0.webSocket.pingInterval = 10
            $0.webSocket.pongTimeout = 40
        }
        defer { server.close() }
        let timer = LoopTimer { peer.send(maskedText(Array("one".utf8))) }
        timer.start(after: 0, every: 10)
        // Each of these takes 10 ms or longer: many times what a pong may take.
        for _ in 0..<50 { #expect(try await accepted.listener.heard.next() == .text("one")) }
        timer.stop()
        #expect(try await accepted.listener.end().error?.code == .pongMissing)
        peer.close()
    }

    @Test("A pong that nobody asked for, or of other bytes, is no answer")
    @EventLoop
    func strangePong() async throws {
        let (server, peer, accepted) = try await rawClient()
        defer { server.close() }
        let answers = Mailbox<Bool>()
        accepted.webSocket.ping(within: 60) { answers.put($0) }
        peer.send(hex("8a 80 00 00 00 00 8a 81 00 00 00 00 61 8a 88 00 00 00 00 ff ff ff ff ff ff ff ff"))
        #expect(try await answers.next() == false)
        #expect(accepted.webSocket.isOpen)
        peer.close()
    }

    @Test("A connection that is reset is told with its reason")
    @EventLoop
    func gone() async throws {
        let (server, peer, accepted) = try await rawClient()
        defer { server.close() }
        peer.send(maskedText(Array("part".utf8)).dropLast(2).map { $0 })
        peer.close()
        #expect(try await accepted.listener.heard.next() == .closed(code: nil, error: "closed", byPeer: true))
    }

    @Test("A peer that floods pings and reads nothing is dropped at the limit")
    @EventLoop
    func pingFlood() async throws {
        let (server, peer, accepted) = try await rawClient { $0.webSocket.maximumUnsent = 64 << 10 }
        defer { server.close() }
        peer.connection?.pauseReading()
        let ping = hex("89 fd 00 00 00 00") + [UInt8](repeating: 0x61, count: 125)
        let flood = (0..<2_000).flatMap { _ in ping }
        let timer = LoopTimer { peer.send(flood) }
        timer.start(after: 0, every: 1)
        #expect(try await accepted.listener.end().error?.code == .slowReader)
        timer.stop()
        peer.close()
    }
}
