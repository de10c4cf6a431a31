import CUV
import Glibc
import TestSupport
import Testing

@testable import Transport

/// Believes what comes first: one byte, the last part of the client's address; 0 = the proxy itself, 255 = invalid.
@EventLoop
private final class OneByteRule: ProxyRule {
    var usesHeaders = false

    func manner(of remote: PeerAddress) -> ProxyManner { usesHeaders ? .headers : .preamble }

    func header(in bytes: UnsafeRawBufferPointer) -> ProxyHeader {
        switch bytes.first {
        case nil: .needsMore
        case 0: .client(nil, length: 1)
        case 255: .invalid
        case .some(let byte):
            bytes.count < 2
                ? .needsMore : .client(PeerAddress(host: "192.0.2.\(byte)", port: 7, isLoopback: false), length: 2)
        }
    }

    func client(of request: HTTPRequestHead, from proxy: PeerAddress) -> PeerAddress {
        PeerAddress(host: request["X-Client"] ?? "nobody", port: 7, isLoopback: false)
    }
}

@Suite("A listener behind proxies")
@EventLoop
struct ProxyPreambleTests {
    private let rule = OneByteRule()
    private let request =
        "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"

    private func server(_ change: (inout HTTPListenerOptions) -> Void = { _ in }) throws -> TestServer {
        var options = HTTPListenerOptions()
        change(&options)
        let server = try TestServer(options: options)
        server.http?.proxies = rule
        return server
    }

    @Test("the client of a header is the one of the socket, however the bytes are cut; what follows is not lost")
    func preamble() async throws {
        let server = try server()
        defer { server.close() }
        for isCut in [false, true] {
            let peer = try await RawPeer.dial(server.port)
            let bytes = [9, 9] + Array((request + "\r\n").utf8)
            if isCut { for byte in bytes { peer.send([byte]) } } else { peer.send(bytes) }
            let remote = try await server.sockets.next().webSocket.remote
            #expect(remote.host == "192.0.2.9" && remote.manner == .preamble)
            #expect(try await peer.waitForHead().hasPrefix("HTTP/1.1 101"))
            peer.close()
        }
        let local = try await RawPeer.dial(server.port)
        local.send([0] + Array((request + "\r\n").utf8))
        #expect(try await server.sockets.next().webSocket.remote.isLoopback)
        local.close()
        #expect(server.http?.pendingConnections == 0)
    }

    @Test("an invalid header ends the connection")
    func invalid() async throws {
        let server = try server()
        defer { server.close() }
        let wrong = try await RawPeer.dial(server.port)
        wrong.send([255])
        #expect(try await wrong.waitForEnd().isEmpty)
        #expect(server.http?.refusedPreambles == 1)
        #expect(server.http?.pendingConnections == 0)
        wrong.close()
    }

    @Test("a header that never comes ends the connection")
    func unfinished() async throws {
        let server = try server { $0.headTimeout = 100 }
        defer { server.close() }
        let silent = try await RawPeer.dial(server.port)
        silent.send([9])
        #expect(try await silent.waitForEnd().isEmpty)
        #expect(server.http?.pendingConnections == 0)
        silent.close()
    }

    @Test("the limit of one address holds for the client, and not for the proxy")
    func limit() async throws {
        let server = try server { $0.maximumPendingPerAddress = 1 }
        defer { server.close() }
        var peers: [RawPeer] = []
        for byte: UInt8 in [1, 2, 3] {
            let peer = try await RawPeer.dial(server.port)
            peer.send([byte, byte])
            peers.append(peer)
        }
        let second = try await RawPeer.dial(server.port)
        second.send([1, 1])
        #expect(try await second.waitForEnd().isEmpty)
        try await until("three wait") { server.http?.pendingConnections == 3 }
        // When the first one is done, there is room for its address again.
        peers[0].close()
        try await until("the first has gone") { server.http?.pendingConnections == 2 }
        let third = try await RawPeer.dial(server.port)
        third.send([1, 1] + Array((request + "\r\n").utf8))
        #expect(try await server.sockets.next().webSocket.remote.host == "192.0.2.1")
        for peer in peers + [second, third] { peer.close() }
    }

    @Test("headers of a proxy name the client of each request")
    func headers() async throws {
        rule.usesHeaders = true
        let server = try server()
        defer { server.close() }
        let peer = try await RawPeer.dial(server.port)
        peer.send(
            "GET /health HTTP/1.1\r\nHost: a\r\nX-Client: 192.0.2.4\r\n\r\n" + request + "X-Client: 192.0.2.5\r\n\r\n")
        let remote = try await server.sockets.next().webSocket.remote
        #expect(remote.host == "192.0.2.5" && remote.manner == .headers)
        peer.close()
    }

    @Test("a socket that listens already is taken over with its address; one that is none is refused")
    func inherited() async throws {
        let address = try #require(SocketAddress(numeric: "127.0.0.1", port: 0))
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        #expect(address.withPointer { bind(descriptor, $0, address.length) } == 0 && listen(descriptor, 8) == 0)
        var options = HTTPListenerOptions()
        options.descriptor = descriptor
        let server = try TestServer(port: 1, options: options)
        defer { server.close() }
        #expect(server.port > 1)
        let peer = try await RawPeer.dial(server.port)
        try await peer.upgrade()
        peer.close()
        options.descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        #expect(throws: TransportError.self) { _ = try TestServer(options: options) }
        options.descriptor.map { _ = close($0) }
    }

    @Test("two listeners share a port if both say so")
    func shared() async throws {
        var options = HTTPListenerOptions()
        options.reusesPort = true
        let first = try TestServer(options: options)
        let second = try TestServer(port: first.port, options: options)
        #expect(throws: TransportError.self) { _ = try TestServer(port: first.port) }
        first.close()
        let peer = try await RawPeer.dial(second.port)
        try await peer.upgrade()
        peer.close()
        second.close()
    }

    @Test("limits that change hold at once; a listener that was full takes newcomers again")
    func change() async throws {
        rule.usesHeaders = true
        let server = try server { $0.maximumConnections = 1 }
        defer { server.close() }
        let first = try await RawPeer.dial(server.port)
        try await first.upgrade()
        #expect(server.http?.isAtLimit == true)
        var options = HTTPListenerOptions()
        options.maximumConnections = 5
        server.http?.change(options)
        #expect(server.http?.isAtLimit == false)
        let second = try await RawPeer.dial(server.port)
        try await second.upgrade()
        for peer in [first, second] { peer.close() }
    }

    @Test("another certificate is for those who come; files that are wrong change nothing")
    func renew() async throws {
        let certificates = try await TestCertificates.get()
        let server = try TestServer(tls: certificates.expired)
        defer { server.close() }
        var options = WebSocketClientOptions()
        options.tls.caFile = certificates.authority
        func connects() async throws -> Bool {
            let listener = Listener()
            let webSocket = WebSocket.connect(to: try server.url(secure: true), options: options, delegate: listener)
            defer { webSocket.abort() }
            if case .open = try await listener.heard.next() { return true }
            return false
        }
        #expect(try await !connects())
        try server.http?.renew(certificates.good)
        #expect(try await connects())
        let mixed = TLSServerOptions(
            certificateFile: certificates.good.certificateFile, keyFile: certificates.elsewhere.keyFile)
        #expect(throws: TransportError.self) { try server.http?.renew(mixed) }
        #expect(try await connects())
        #expect(server.http?.handshakes.completed == 2 && server.http?.handshakes.resumed == 0)
    }
}
