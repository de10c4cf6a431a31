import TestSupport
import Testing

@testable import Transport

@Suite("Client and listener, over real sockets")
struct EndToEndTests {
    @EventLoop
    private func pair(
        _ server: TestServer, _ options: WebSocketClientOptions = WebSocketClientOptions(), host: String = "127.0.0.1",
        secure: Bool = false
    ) async throws -> (client: WebSocket, heard: Listener, accepted: TestServer.Accepted) {
        let delegate = Listener()
        let client = WebSocket.connect(
            to: try server.url(host, secure: secure), options: options, delegate: delegate)
        #expect(try await delegate.heard.next() == .open)
        return (client, delegate, try await server.sockets.next())
    }

    @Test("Messages go both ways, and closing tells both ends once")
    @EventLoop
    func bothWays() async throws {
        let server = try TestServer()
        defer { server.close() }
        let (client, heard, accepted) = try await pair(server)
        #expect(client.isOpen && accepted.webSocket.isOpen)
        #expect(accepted.webSocket.remote.isLoopback)
        #expect(client.channelBinding == nil)
        client.send("Grüße, 世界")
        #expect(try await accepted.listener.heard.next() == .text("Grüße, 世界"))
        accepted.webSocket.send("")
        #expect(try await heard.heard.next() == .text(""))
        client.close(code: 1001, reason: "going")
        #expect(!client.send("late"))
        #expect(try await accepted.listener.heard.next() == .closed(code: 1001, error: nil, byPeer: true))
        #expect(accepted.listener.lastReason?.text == "going")
        #expect(try await heard.heard.next() == .closed(code: 1001, error: nil, byPeer: false))
        client.close()
        client.abort()
        #expect(server.http?.pendingConnections == 0)
        #expect(accepted.webSocket.remote.host == "127.0.0.1")
    }

    @Test("The server may close too")
    @EventLoop
    func serverCloses() async throws {
        let server = try TestServer()
        defer { server.close() }
        let (_, heard, accepted) = try await pair(server)
        accepted.webSocket.send("last words")
        accepted.webSocket.close(code: 4_000)
        #expect(try await heard.heard.next() == .text("last words"))
        #expect(try await heard.heard.next() == .closed(code: 4_000, error: nil, byPeer: true))
        #expect(try await accepted.listener.heard.next() == .closed(code: 4_000, error: nil, byPeer: false))
    }

    @Test("An aborted end is told as such on both sides")
    @EventLoop
    func abort() async throws {
        let server = try TestServer()
        defer { server.close() }
        let (client, heard, accepted) = try await pair(server)
        client.abort()
        #expect(try await heard.heard.next() == .closed(code: nil, error: nil, byPeer: false))
        #expect(try await accepted.listener.heard.next() == .closed(code: nil, error: "closed", byPeer: true))
    }

    @Test("1 MiB arrives whole in both directions, one byte more closes with 1009", arguments: [false, true])
    @EventLoop
    func large(secure: Bool) async throws {
        let certificates = try await TestCertificates.get()
        let server = try TestServer(tls: secure ? certificates.good : nil)
        defer { server.close() }
        var options = WebSocketClientOptions()
        options.tls.caFile = certificates.authority
        let (client, heard, accepted) = try await pair(server, options, host: "localhost", secure: secure)
        let text = String(repeating: "0123456789abcdef", count: 1 << 16)
        client.send(text)
        #expect(try await accepted.listener.heard.next() == .text(text))
        accepted.webSocket.send(text)
        #expect(try await heard.heard.next() == .text(text))
        accepted.webSocket.send(text + "x")
        #expect(try await heard.heard.next() == .closed(code: 1009, error: "message_too_big", byPeer: false))
        #expect(try await accepted.listener.heard.next() == .closed(code: 1009, error: nil, byPeer: true))
    }

    @Test("Over TLS both ends have the same channel binding", arguments: ["localhost", "127.0.0.1"])
    @EventLoop
    func secure(host: String) async throws {
        let certificates = try await TestCertificates.get()
        let server = try TestServer(tls: certificates.good)
        defer { server.close() }
        var options = WebSocketClientOptions()
        options.tls.caFile = certificates.authority
        let (client, heard, accepted) = try await pair(server, options, host: host, secure: true)
        #expect(client.channelBinding?.count == 32)
        #expect(client.channelBinding == accepted.webSocket.channelBinding)
        client.send("hello")
        #expect(try await accepted.listener.heard.next() == .text("hello"))
        client.close()
        #expect(try await accepted.listener.end().code == 1000)
        #expect(try await heard.end().error == nil)
    }

    @Test("A certificate of the wrong name, expired or of an unknown authority ends the connect with what is wrong")
    @EventLoop
    func refusedCertificates() async throws {
        let certificates = try await TestCertificates.get()
        let cases = [
            (certificates.elsewhere, certificates.authority, "is not for localhost"),
            (certificates.expired, certificates.authority, "has expired"),
            (certificates.good, certificates.otherAuthority, "unknown authority"),
        ]
        for (tls, authority, what) in cases {
            let server = try TestServer(tls: tls)
            defer { server.close() }
            var options = WebSocketClientOptions()
            options.tls.caFile = authority
            let delegate = Listener()
            _ = WebSocket.connect(to: try server.url("localhost", secure: true), options: options, delegate: delegate)
            let reason = try await delegate.end()
            #expect(reason.error?.code == .tlsFailed)
            #expect(reason.error?.message.contains(what) == true, "\(reason)")
        }
    }

    @Test("ws to a TLS port and wss to a plain port both fail by name")
    @EventLoop
    func mismatch() async throws {
        let certificates = try await TestCertificates.get()
        let plain = try TestServer()
        let secure = try TestServer(tls: certificates.good)
        defer {
            plain.close()
            secure.close()
        }
        let delegate = Listener()
        _ = WebSocket.connect(to: try plain.url(secure: true), delegate: delegate)
        #expect(try await delegate.end().error?.code == .tlsFailed)
        let other = Listener()
        _ = WebSocket.connect(to: try secure.url(), delegate: other)
        let code = try await other.end().error?.code
        #expect(code == .upgradeRefused || code == .closed)
    }

    @Test("Many small messages arrive in order, and the owner may answer inside the call")
    @EventLoop
    func many() async throws {
        let server = try TestServer()
        server.onText = { webSocket, text in webSocket.send(text) }
        defer { server.close() }
        let (client, heard, _) = try await pair(server)
        var sent = 0
        for _ in 0..<20 {
            for _ in 0..<500 {
                client.send("message \(sent)")
                sent += 1
            }
            for number in sent - 500..<sent { #expect(try await heard.heard.next() == .text("message \(number)")) }
        }
        client.abort()
    }

    @Test("All that is sent in one wake-up leaves in one send")
    @EventLoop
    func batch() async throws {
        let server = try TestServer()
        defer { server.close() }
        let (client, _, accepted) = try await pair(server)
        for number in 0..<100 { client.send("\(number)") }
        #expect(client.unsentBytes > 100)
        for number in 0..<100 { #expect(try await accepted.listener.heard.next() == .text("\(number)")) }
        #expect(client.unsentBytes == 0)
        client.abort()
    }

    @Test("Pieces make one message, from client and server")
    @EventLoop
    func pieces() async throws {
        let server = try TestServer()
        defer { server.close() }
        let (client, heard, accepted) = try await pair(server)
        func sendPieces(_ webSocket: WebSocket) {
            Array("{\"a\":".utf8).withUnsafeBytes { first in
                Array("1}".utf8).withUnsafeBytes { second in
                    [first, second].withUnsafeBufferPointer { _ = webSocket.send(pieces: $0) }
                }
            }
        }
        sendPieces(client)
        #expect(try await accepted.listener.heard.next() == .text("{\"a\":1}"))
        sendPieces(accepted.webSocket)
        #expect(try await heard.heard.next() == .text("{\"a\":1}"))
        client.abort()
    }

    @Test("A slow reader's backlog is visible, and over the limit it is dropped by name")
    @EventLoop
    func slowReader() async throws {
        var options = HTTPListenerOptions()
        options.webSocket.maximumUnsent = 32 << 20
        let server = try TestServer(options: options)
        defer { server.close() }
        let (client, _, accepted) = try await pair(server)
        client.pauseReading()
        let text = String(repeating: "x", count: 1 << 20)
        var sent = 0
        while accepted.webSocket.send(text), sent < 200 { sent += 1 }
        #expect(sent > 16)
        #expect(try await accepted.listener.end().error?.code == .slowReader)
        client.abort()
    }

    @Test("A backlog drains when the reader goes on, in order, and says so")
    @EventLoop
    func drains() async throws {
        let server = try TestServer()
        defer { server.close() }
        let (client, heard, accepted) = try await pair(server)
        client.pauseReading()
        let text = String(repeating: "y", count: 1 << 20)
        for number in 0..<12 { accepted.webSocket.send("\(number)\(text)".prefix(1 << 20).description) }
        let drained = Mailbox<Bool>()
        accepted.webSocket.whenDrained { drained.put($0) }
        // Wait until the kernel is full: a ping round trip cannot come back while the reader is paused.
        let answered = Mailbox<Bool>()
        accepted.webSocket.ping(within: 50) { answered.put($0) }
        #expect(try await answered.next() == false)
        #expect(accepted.webSocket.unsentBytes > 0)
        #expect(drained.isEmpty)
        client.resumeReading()
        for number in 0..<12 {
            guard case .text(let came) = try await heard.heard.next() else { break }
            #expect(came.hasPrefix("\(number)y"))
        }
        #expect(try await drained.next())
        #expect(accepted.webSocket.unsentBytes == 0)
        let last = Mailbox<Bool>()
        client.abort()
        _ = try await accepted.listener.end()
        accepted.webSocket.whenDrained { last.put($0) }
        #expect(try await last.next() == false)
    }

    @Test("A connection that is paused for two reasons is read again when neither holds")
    @EventLoop
    func twoPauses() async throws {
        let server = try TestServer()
        defer { server.close() }
        let (client, heard, accepted) = try await pair(server)
        client.pauseReading(for: .rate)
        client.pauseReading(for: .backpressure)
        client.resumeReading(for: .rate)
        accepted.webSocket.send("waits")
        // The answer to a ping would come behind the message.
        let answered = Mailbox<Bool>()
        accepted.webSocket.ping(within: 100) { answered.put($0) }
        #expect(try await answered.next() == false && heard.heard.isEmpty)
        client.resumeReading(for: .backpressure)
        #expect(try await heard.heard.next() == .text("waits"))
        client.abort()
    }

    @Test("Pausing inside a message's call holds back the very next message")
    @EventLoop
    func pauseInside() async throws {
        let server = try TestServer()
        let seen = Mailbox<String>()
        server.onText = { webSocket, text in
            seen.put(String(decoding: text, as: UTF8.self))
            webSocket.pauseReading()
        }
        defer { server.close() }
        let (client, _, accepted) = try await pair(server)
        for number in 0..<5 { client.send("\(number)") }
        for number in 0..<5 {
            #expect(try await seen.next() == "\(number)")
            #expect(seen.isEmpty)
            accepted.webSocket.resumeReading()
        }
        client.abort()
    }

    @Test("A ping is answered by a peer that reads, and not by one that is gone")
    @EventLoop
    func ping() async throws {
        let server = try TestServer()
        defer { server.close() }
        let (client, _, accepted) = try await pair(server)
        let answers = Mailbox<Bool>()
        accepted.webSocket.ping(within: 5_000) { answers.put($0) }
        #expect(try await answers.next())
        accepted.webSocket.ping(within: 5_000) { answers.put($0) }
        accepted.webSocket.abort()
        #expect(try await answers.next() == false)
        accepted.webSocket.ping(within: 5_000) { answers.put($0) }
        #expect(try await answers.next() == false)
        _ = client
    }

    @Test("A pong that a process could not write in time, because it was held up, still counts")
    @EventLoop
    func heldUpPing() async throws {
        let server = try TestServer()
        defer { server.close() }
        let (client, _, accepted) = try await pair(server)
        let answers = Mailbox<Bool>()
        accepted.webSocket.ping(within: 1) { answers.put($0) }
        // Both ends live on this thread, which does nothing else meanwhile.
        let end = ContinuousClock.now + .milliseconds(20)
        while ContinuousClock.now < end {}
        #expect(try await answers.next())
        client.abort()
    }

    @Test("A late pong is looked for in the kernel, however many slow timers fire before the kernel is asked")
    @EventLoop
    func slowTimers() async throws {
        let server = try TestServer()
        defer { server.close() }
        let (client, _, accepted) = try await pair(server)
        let answers = Mailbox<Bool>()
        func hold() {
            let end = ContinuousClock.now + .milliseconds(5)
            while ContinuousClock.now < end {}
        }
        var left = 10
        var slow: LoopTimer?
        slow = LoopTimer {
            hold()
            left -= 1
            if left > 0 { slow?.start(after: 0) }
        }
        accepted.webSocket.ping(within: 1) { answers.put($0) }
        slow?.start(after: 1)
        hold()
        #expect(try await answers.next())
        slow = nil
        client.abort()
    }

    @Test("Keepalive holds a quiet connection, both ends pinging")
    @EventLoop
    func keepalive() async throws {
        var listenerOptions = HTTPListenerOptions()
        listenerOptions.webSocket.pingInterval = 5
        listenerOptions.webSocket.pongTimeout = 2_000
        let server = try TestServer(options: listenerOptions)
        defer { server.close() }
        var options = WebSocketClientOptions()
        options.webSocket = listenerOptions.webSocket
        let (client, heard, accepted) = try await pair(server, options)
        let done = Mailbox<Bool>()
        let timer = LoopTimer { done.put(true) }
        timer.start(after: 100)
        _ = try await done.next()
        #expect(client.isOpen && accepted.webSocket.isOpen)
        #expect(heard.heard.isEmpty)
        client.abort()
    }

    @Test("A header of the client's reaches the server")
    @EventLoop
    func headers() async throws {
        let server = try TestServer()
        defer { server.close() }
        var options = WebSocketClientOptions()
        options.headers = [("X-Bellwire", "1")]
        let (client, _, _) = try await pair(server, options)
        let head = try await server.requests.next()
        #expect(head["x-bellwire"] == "1")
        #expect(head.asksForWebSocket)
        client.abort()
    }

    @Test("A delegate that is replaced inside a message's call gets no further message of the same read")
    @EventLoop
    func replacedDelegate() async throws {
        let server = try TestServer()
        let next = Listener()
        let (first, second) = (Mailbox<String>(), Mailbox<String>())
        server.onText = { webSocket, text in
            first.put(String(decoding: text, as: UTF8.self))
            webSocket.delegate = next
        }
        next.onText = { webSocket, text in
            second.put(String(decoding: text, as: UTF8.self))
            webSocket.delegate = nil
        }
        defer { server.close() }
        let (client, _, accepted) = try await pair(server)
        for number in 0..<5 { client.send("\(number)") }
        #expect(try await first.next() == "0")
        #expect(try await second.next() == "1")
        let answered = Mailbox<Bool>()
        client.ping(within: 10_000) { answered.put($0) }
        #expect(try await answered.next())
        #expect(first.isEmpty && second.isEmpty)
        accepted.webSocket.abort()
        client.abort()
    }

    @Test("The delegate may let go of everything: the connection is closed without it")
    @EventLoop
    func noDelegate() async throws {
        let server = try TestServer()
        defer { server.close() }
        var delegate: Listener? = Listener()
        weak let gone = delegate
        let client = WebSocket.connect(to: try server.url(), delegate: try #require(delegate))
        delegate = nil
        let accepted = try await server.sockets.next()
        accepted.webSocket.send("to nobody")
        let answered = Mailbox<Bool>()
        accepted.webSocket.ping(within: 10_000) { answered.put($0) }
        #expect(try await answered.next())
        client.close()
        #expect(try await accepted.listener.end().code == 1000)
        #expect(gone == nil)
    }
}
