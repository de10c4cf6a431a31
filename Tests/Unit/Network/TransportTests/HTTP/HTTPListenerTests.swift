import CUV
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Transport

@Suite("Listener")
struct HTTPListenerTests {
    private let upgrade =
        "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"

    @EventLoop
    private func ask(_ server: TestServer, _ text: String) async throws -> String {
        let peer = try await RawPeer.dial(server.port)
        peer.send(text)
        let bytes = try await peer.waitForEnd()
        peer.close()
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("A page is answered, and the connection kept for the next request or closed as asked")
    @EventLoop
    func pages() async throws {
        let server = try TestServer()
        defer { server.close() }
        let answer = try await ask(
            server,
            "GET /health HTTP/1.1\r\nHost: a\r\n\r\nHEAD /health HTTP/1.1\r\nHost: a\r\n\r\n"
                + "GET /none HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let page =
            "HTTP/1.1 200 OK\r\nContent-Length: 15\r\nContent-Type: application/json\r\nConnection: keep-alive\r\n\r\n"
        let none =
            "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nno\n"
        #expect(answer == page + "{\"status\":\"ok\"}" + page + none)
        #expect(server.http?.pendingConnections == 0)
    }

    @Test("HTTP/1.0, requests with a body, and a client that shuts its side get their answer and the end")
    @EventLoop
    func closing() async throws {
        let server = try TestServer()
        defer { server.close() }
        for request in [
            "GET /health HTTP/1.0\r\n\r\n", "POST /health HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
            "POST /health HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
        ] {
            let answer = try await ask(server, request)
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(request)")
            #expect(answer.contains("Connection: close\r\n"))
        }
    }

    @Test(
        "What is refused gets its status",
        arguments: [
            ("nonsense\r\n\r\n", "400"),
            ("GET / HTTP/1.1\r\nX: \(String(repeating: "x", count: 20_000))\r\n\r\n", "431"),
            ("GET /upgrade HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "426"),
        ])
    @EventLoop
    func refused(request: String, status: String) async throws {
        let server = try TestServer()
        defer { server.close() }
        #expect(try await ask(server, request).hasPrefix("HTTP/1.1 \(status) "))
    }

    @Test("An upgrade that breaks the RFC or comes from a stranger's page is refused, without asking the handler")
    @EventLoop
    func refusedUpgrades() async throws {
        let server = try TestServer()
        defer { server.close() }
        #expect(try await ask(server, upgrade + "Origin: http://evil.example\r\n\r\n").hasPrefix("HTTP/1.1 403 "))
        let old = upgrade.split(separator: "Version: 13").joined(separator: "Version: 8")
        let answer = try await ask(server, old + "\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 426 ") && answer.contains("Sec-WebSocket-Version: 13\r\n"))
        #expect(server.requests.isEmpty)
    }

    @Test("An allowed page and the own host may upgrade")
    @EventLoop
    func origins() async throws {
        var options = HTTPListenerOptions()
        options.allowedOrigins = ["https://page.example"]
        let server = try TestServer(options: options)
        defer { server.close() }
        for origin in ["https://page.example", "http://127.0.0.1"] {
            let peer = try await RawPeer.dial(server.port)
            try await peer.upgrade("Origin: \(origin)\r\n")
            peer.close()
        }
    }

    @Test("A request split at each byte is answered the same")
    @EventLoop
    func split() async throws {
        let server = try TestServer()
        defer { server.close() }
        let peer = try await RawPeer.dial(server.port)
        for byte in Array((upgrade + "\r\n").utf8) { peer.send([byte]) }
        #expect(try await peer.waitForHead().hasPrefix("HTTP/1.1 101 "))
        peer.close()
    }

    @Test("A client that says nothing in time is dropped, over TLS too", arguments: [false, true])
    @EventLoop
    func silent(secure: Bool) async throws {
        var options = HTTPListenerOptions()
        options.headTimeout = 30
        let server = try TestServer(tls: secure ? try await TestCertificates.get().good : nil, options: options)
        defer { server.close() }
        let peer = try await RawPeer.dial(server.port)
        peer.send("GET / HT")
        _ = try await peer.waitForEnd()
        #expect(server.http?.pendingConnections == 0)
        peer.close()
    }

    @EventLoop
    private func pause(_ milliseconds: UInt64) async throws {
        let over = Mailbox<Bool>()
        let timer = LoopTimer { over.put(true) }
        timer.start(after: milliseconds)
        _ = try await over.next()
    }

    private let upload = "PUT /body HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"

    @Test(
        "A body may take longer than a head, and each piece of it gives time for the next one",
        arguments: [false, true])
    @EventLoop
    func pipes(hasLimit: Bool) async throws {
        var options = HTTPListenerOptions()
        options.headTimeout = hasLimit ? 5_000 : 30
        options.bodyTimeout = hasLimit ? 1_000 : 60_000
        let server = try TestServer(options: options)
        defer { server.close() }
        let peer = try await RawPeer.dial(server.port)
        peer.send(upload)
        for _ in 0..<4 {
            peer.send("2\r\nhi\r\n")
            try await pause(hasLimit ? 400 : 60)
        }
        peer.send("0\r\n\r\n")
        let answer = String(decoding: try await peer.waitForEnd(), as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.hasSuffix("whole(\(Array("hihihihi".utf8)))"), "\(answer)")
        peer.close()
    }

    @Test("A body of which no more comes, or whose client shuts its side, is handed on as that; a head gets 408")
    @EventLoop
    func incomplete() async throws {
        var options = HTTPListenerOptions()
        options.bodyTimeout = 30
        let server = try TestServer(options: options)
        defer { server.close() }
        #expect(try await ask(server, upload + "2\r\nhi\r\n").hasSuffix("\r\n\r\ntimedOut(30)"))
        options.bodyTimeout = 60_000
        server.http?.change(options)
        let answer = try await answerAfterShutDown(server.port, upload + "2\r\nhi\r\n")
        #expect(answer.contains("malformed(\"the connection ended before the body did\")"), "\(answer)")
        options.headTimeout = 30
        server.http?.change(options)
        #expect(try await ask(server, "PUT /body HTTP/1.1\r\nHost").hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
        // Between two requests nothing is missing.
        let quiet = try await ask(server, "GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(quiet.components(separatedBy: "HTTP/1.1").count == 2, "\(quiet)")
        #expect(server.http?.pendingConnections == 0)
    }

    /// What a client reads that has shut its sending side.
    private func answerAfterShutDown(_ port: UInt16, _ text: String) async throws -> String {
        try await Task.detached {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { Glibc.close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            let size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isConnected = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) == 0 }
            }
            try #require(isConnected)
            let bytes = Array(text.utf8)
            try #require(Glibc.send(descriptor, bytes, bytes.count, 0) == bytes.count)
            Glibc.shutdown(descriptor, Int32(SHUT_WR))
            var (found, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4_096))
            while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 { found += buffer[..<count] }
            return String(decoding: found, as: UTF8.self)
        }.value
    }

    @Test("A client that sends a whole body before it reads the answer gets it, however long that takes")
    @EventLoop
    func refusedUploads() async throws {
        let server = try TestServer()
        defer { server.close() }
        let peer = try await RawPeer.dial(server.port)
        peer.send("PUT /none HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
        peer.connection?.pauseReading()
        // Longer than the two seconds in which a connection ends.
        for _ in 0..<5 {
            peer.send("more")
            try await pause(600)
        }
        peer.connection?.resumeReading()
        let answer = String(decoding: try await peer.wait { $0.count > 20 }, as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 404 ") && server.http?.connections == 1)
        peer.close()
    }

    @Test("A pipe in the place of a certificate, key or CA file is refused, and stops nothing")
    @EventLoop
    func pipesAsFiles() async throws {
        let good = try await TestCertificates.get().good
        let pipe = FileManager.default.temporaryDirectory.appendingPathComponent("bellwire-pipe-\(UUID())").path
        try #require(mkfifo(pipe, 0o600) == 0)
        defer { unlink(pipe) }
        for (certificate, key) in [(pipe, good.keyFile), (good.certificateFile, pipe)] {
            #expect {
                _ = try TestServer(tls: TLSServerOptions(certificateFile: certificate, keyFile: key))
            } throws: {
                ($0 as? TransportError)?.message.contains("\(pipe): it is not a regular file") == true
            }
        }
        #expect(throws: TransportError.self) { _ = try TLSContext.client(TLSClientOptions(caFile: pipe)) }
    }

    @Test("A port in use is told by name")
    @EventLoop
    func inUse() throws {
        let server = try TestServer()
        defer { server.close() }
        #expect {
            _ = try TestServer(port: server.port)
        } throws: {
            guard let error = $0 as? TransportError else { return false }
            return error.code == .addressInUse && error.message.contains("127.0.0.1:\(server.port)")
        }
    }

    @Test("A host that is no address of this machine is told by name", arguments: ["relay.example", "192.0.2.1", ""])
    @EventLoop
    func badHost(host: String) {
        #expect(throws: TransportError.self) { _ = try TestServer(host: host) }
    }

    @Test("A closed listener's port can be used again at once, and its WebSockets stay")
    @EventLoop
    func closeAndReuse() async throws {
        let first = try TestServer()
        let port = first.port
        let delegate = Listener()
        let client = WebSocket.connect(to: try first.url(), delegate: delegate)
        let accepted = try await first.sockets.next()
        first.close()
        let second = try TestServer(port: port)
        accepted.webSocket.send("still here")
        #expect(try await delegate.heard.next() == .open)
        #expect(try await delegate.heard.next() == .text("still here"))
        second.close()
        client.abort()
    }

    @Test("While accepting is paused newcomers wait, and are taken afterwards")
    @EventLoop
    func paused() async throws {
        let server = try TestServer()
        defer { server.close() }
        server.http?.pauseAccepting()
        let peer = try await RawPeer.dial(server.port)
        peer.send(upgrade + "\r\n")
        let settled = Mailbox<Bool>()
        let timer = LoopTimer { settled.put(true) }
        timer.start(after: 30)
        _ = try await settled.next()
        #expect(server.requests.isEmpty)
        server.http?.resumeAccepting()
        #expect(try await peer.waitForHead().hasPrefix("HTTP/1.1 101 "))
        peer.close()
    }

    @Test("At the limit of connections the newest waits until another has ended")
    @EventLoop
    func full() async throws {
        var options = HTTPListenerOptions()
        options.maximumConnections = 2
        let server = try TestServer(options: options)
        defer { server.close() }
        var clients: [RawPeer] = []
        for _ in 0..<2 {
            let peer = try await RawPeer.dial(server.port)
            try await peer.upgrade()
            clients.append(peer)
        }
        #expect(try await server.problems.next() == "full")
        #expect(server.http?.connections == 2)
        let waiting = try await RawPeer.dial(server.port)
        waiting.send(upgrade + "\r\n")
        #expect(waiting.received.isEmpty)
        clients[0].close()
        #expect(try await waiting.waitForHead().hasPrefix("HTTP/1.1 101 "))
        for expected in ["recovered", "full"] { #expect(try await server.problems.next() == expected) }
        waiting.close()
        clients[1].close()
        #expect(try await server.problems.next() == "recovered")
    }

    @Test("Slow clients make room for others: first those of the network with most connections")
    @EventLoop
    func makesRoom() async throws {
        var options = HTTPListenerOptions()
        options.maximumPending = 2
        let server = try TestServer(host: "::", options: options)
        defer { server.close() }
        let other = try await RawPeer.dial(server.port, host: "::1")
        other.send("GET /heal")
        var slow: [RawPeer] = []
        for _ in 0..<5 {
            let peer = try await RawPeer.dial(server.port)
            peer.send("POST / HTTP/1.1\r\nHost: a\r\nCont")
            _ = try await slow.last?.waitForEnd()
            slow.append(peer)
        }
        let answer = try await ask(server, "GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 200 OK"))
        _ = try await slow.last?.waitForEnd()
        other.send("th HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(String(decoding: try await other.waitForEnd(), as: UTF8.self).hasPrefix("HTTP/1.1 200 OK"))
        for peer in slow + [other] { peer.close() }
    }

    @Test("Out of descriptors: said once, newcomers wait, and are taken when there are some again")
    @EventLoop
    func outOfFiles() async throws {
        @EventLoop final class Limit {
            var isReached = true
        }
        let limit = Limit()
        let events = Mailbox<String>()
        let address = try #require(SocketAddress(numeric: "127.0.0.1", port: 0))
        let acceptor = try Acceptor(
            address, backlog: 16,
            accept: { listener in
                guard EventLoop.onLoop({ limit.isReached }) else { return bw_accept(listener) }
                errno = EMFILE
                return -1
            }
        ) { event in
            switch event {
            case .accepted(let tcp):
                tcp.close()
                events.put("accepted")
            case .failed(let error): events.put(error.code.name)
            case .recovered: events.put("recovered")
            }
        }
        defer { acceptor.close() }
        let first = try await RawPeer.dial(acceptor.address.port)
        #expect(try await events.next() == "out_of_files")
        let second = try await RawPeer.dial(acceptor.address.port)
        limit.isReached = false
        #expect(try await events.next() == "recovered")
        #expect(try await events.next() == "accepted")
        #expect(try await events.next() == "accepted")
        first.close()
        second.close()
    }

    @Test("IPv6 listens too, and :: takes IPv4")
    @EventLoop
    func ipv6() async throws {
        let server = try TestServer(host: "::")
        defer { server.close() }
        for host in ["127.0.0.1", "[::1]"] {
            let delegate = Listener()
            let client = WebSocket.connect(to: try server.url(host), delegate: delegate)
            #expect(try await delegate.heard.next() == .open)
            let accepted = try await server.sockets.next()
            #expect(accepted.webSocket.remote.isLoopback)
            #expect(accepted.webSocket.remote.host == (host == "127.0.0.1" ? host : "::1"))
            client.abort()
        }
    }
}
