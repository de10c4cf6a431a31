import Identity
import JSON
import Signalling
import TestSupport
import Testing
import Transport
import Wire

@testable import Relay

/// Our client and our relay, and a relay in between that is not ours.
@Suite("A client proves its id to a relay", .timeLimit(.minutes(2)))
@EventLoop
struct RelayClientTests {
    private let alice: Prover

    init() throws {
        try Identity.start()
        alice = try Prover(1)
    }

    private func client(_ url: String, caFile: String? = nil) throws -> TestClient {
        try TestClient(url, id: alice.did, key: alice.key, caFile: caFile)
    }

    @Test("over ws and over wss, again after each drop; sealed messages come through")
    func proves() async throws {
        let certificate = try await TestCertificates.get()
        for tls in [Optional<JSONValue>.none, certificate.relayOptions] {
            let relay = try TestRelay(tls.map { ["tls": $0] } ?? [:])
            let client = try client(relay.origin, caFile: tls == nil ? nil : certificate.authority)
            client.connection.start()
            try await client.until { $0.connection.isProved }
            #expect(relay.relay.stats.registrations.proved == 1)
            #expect(client.connection.send(to: PeerID(alice.did), payload: ["n": 1], sealed: true) == .written)
            try await client.until { $0.messages.count == 1 }
            #expect(client.messages.first?.isSealed == true && client.messages.first?.payload == ["n": 1])
            client.connection.reconnectNow()
            #expect(!client.connection.isProved)
            try await client.until { $0.connection.isProved }
            #expect(relay.relay.stats.registrations.proved == 2)
            client.connection.stop()
            await relay.stop()
        }
    }

    @Test("dialled by a name that the relay was not told of it is refused, with the reason; told, it is not")
    func names() async throws {
        let relay = try TestRelay(["origins": ["ws://127.0.0.1:1"]])
        let client = try client(relay.origin)
        client.connection.start()
        try await client.until { $0.reasons.contains { $0.code == .proofRefused } }
        #expect(client.reasons.first?.message.contains("origins") == true)
        #expect(relay.relay.stats.registrations.peers == 0)
        client.connection.stop()
        await relay.stop()

        let other = try TestRelay()
        let byName = try self.client("ws://localhost:\(other.port)")
        byName.connection.start()
        try await byName.until { $0.connection.isProved }
        byName.connection.stop()
        await other.stop()
    }

    @Test("a hostile relay that forwards our relay's challenge gets a proof for itself, which is worth nothing there")
    func hostileRelay() async throws {
        let relay = try TestRelay()
        let upstream = try #require(try await TestPeer.connect(relay.port))
        let hostile = try HostileRelay()
        let client = try client("ws://127.0.0.1:\(hostile.port)")
        client.connection.start()
        let claim = try await hostile.next()
        #expect(claim["bellwire"] == 1 && claim["proof"] == nil)
        upstream.send(claim)
        hostile.say(try await upstream.next(type: "challenge"))
        let proof = try await hostile.next()
        #expect(proof["proof"]?["origin"] == .string("ws://127.0.0.1:\(hostile.port)"))
        upstream.send(proof)
        #expect(try await upstream.next(type: "error")["code"] == "bad_origin")
        // Or it writes the right origin into it.
        upstream.send(alice.claim())
        let nonce = try await upstream.next(type: "challenge")["nonce"]
        var forged = proof["proof"]?.object ?? [:]
        forged["origin"] = .string(relay.origin)
        forged["nonce"] = nonce
        upstream.send(alice.claim(["proof": .object(forged)]))
        #expect(try await upstream.next(type: "error")["code"] == "bad_proof")
        #expect(relay.relay.stats.registrations.peers == 0)
        // A second challenge is answered by the end of the connection.
        hostile.say(["type": "challenge", "nonce": .string(String(repeating: "A", count: 43))])
        try await client.until { $0.reasons.contains { $0.code == .proofRefused } }
        client.connection.stop()
        hostile.close()
        await relay.stop()
    }

    @Test("an alias on a second connection: plain beside the proved one; another owner there is told")
    func alias() async throws {
        let relay = try TestRelay()
        let desktop = try client(relay.origin)
        desktop.connection.start()
        let alias = try TestClient(relay.origin, id: "pairing-code:123456", key: nil)
        alias.connection.start()
        try await desktop.until { $0.connection.isProved }
        try await alias.until { $0.connection.state.isOnline }
        #expect(!alias.connection.isProved)
        #expect(desktop.connection.send(to: "pairing-code:123456", payload: ["type": "pair-ack"]) == .written)
        try await alias.until { $0.messages.count == 1 }
        #expect(alias.messages.first?.from == PeerID(alice.did))

        let second = try TestClient(relay.origin, id: "pairing-code:123456", key: nil)
        second.connection.start()
        try await second.until { $0.reasons.contains { $0.code == .idTaken } }
        second.connection.stop()
        #expect(alias.connection.state.isOnline)
        alias.connection.stop()
        let third = try TestClient(relay.origin, id: "pairing-code:123456", key: nil)
        third.connection.start()
        try await third.until { $0.connection.state.isOnline }
        third.connection.stop()
        desktop.connection.stop()
        await relay.stop()
    }

    @Test("suspended it leaves the relay, resumed it is back and proved without a wait")
    func suspend() async throws {
        let relay = try TestRelay()
        let client = try client(relay.origin)
        client.connection.start()
        try await client.until { $0.connection.isProved }
        client.connection.suspend()
        #expect(client.connection.state == .offline(.suspended))
        #expect(client.connection.send(to: "x", payload: [:]) == .offline)
        try await client.until { _ in relay.relay.stats.connections.current == 0 }
        client.connection.reconnectNow()
        #expect(client.connection.state == .offline(.suspended))
        client.connection.resume()
        #expect(client.connection.state == .connecting)
        try await client.until { $0.connection.isProved }
        client.connection.stop()
        await relay.stop()
    }
}

/// A connection of ours with what it told, and a way to wait for something to become true.
@EventLoop
private final class TestClient {
    private(set) var connection: RelayConnection
    private(set) var events: [LinkEvent] = []

    init(_ url: String, id: String, key: SigningKey?, caFile: String? = nil) throws {
        var options = WebSocketClientOptions()
        options.tls.caFile = caFile
        let box = Box()
        connection = RelayConnection(
            url: try WebSocketURL(url), registration: .init(peerID: PeerID(id)), provingWith: key, options: options
        ) { _, event in box.owner?.events.append(event) }
        box.owner = self
    }

    @EventLoop
    private final class Box {
        weak var owner: TestClient?
    }

    var messages: [PeerMessage] {
        events.compactMap { if case .message(let message) = $0 { message } else { nil } }
    }

    var reasons: [OfflineReason] {
        events.compactMap { if case .stateChanged(.offline(let reason)) = $0 { reason } else { nil } }
    }

    /// Looks again and again, for ten seconds at most.
    func until(_ isTrue: @escaping @EventLoop (TestClient) -> Bool) async throws {
        let deadline = EventLoop.now + 10_000
        let came: Bool = await withCheckedContinuation { continuation in
            var timer: LoopTimer?
            let look = LoopTimer { [self] in
                let came = isTrue(self)
                guard came || EventLoop.now >= deadline else { return }
                timer?.stop()
                timer = nil
                continuation.resume(returning: came)
            }
            timer = look
            look.start(after: 0, every: 2)
        }
        try #require(came, "it did not come in time; \(connection.state)")
    }
}

/// Says what the test wants, to one client.
@EventLoop
private final class HostileRelay: HTTPHandler, WebSocketDelegate {
    private var listener: HTTPListener?
    private var webSocket: WebSocket?
    private var frames: [JSONValue] = []
    private var waiting: CheckedContinuation<JSONValue?, Never>?
    private var deadline: LoopTimer?

    init() throws { listener = try HTTPListener(host: "127.0.0.1", port: 0, handler: self) }

    var port: UInt16 { listener?.port ?? 0 }

    func say(_ frame: JSONValue) { webSocket?.send(frame.serialized()) }

    func close() {
        webSocket?.abort()
        listener?.close()
        listener = nil
    }

    func next() async throws -> JSONValue {
        if !frames.isEmpty { return frames.removeFirst() }
        let frame = await withCheckedContinuation { continuation in
            waiting = continuation
            let timer = LoopTimer { [weak self] in self?.give(nil) }
            timer.start(after: 10_000)
            deadline = timer
        }
        return try #require(frame, "the client said nothing in time")
    }

    private func give(_ frame: JSONValue?) {
        deadline = nil
        let continuation = waiting
        waiting = nil
        continuation?.resume(returning: frame)
    }

    func listener(
        _ listener: HTTPListener, didReceive head: HTTPRequestHead, from remote: PeerAddress
    ) -> HTTPAnswer { .upgrade }

    func listener(_ listener: HTTPListener, didOpen webSocket: WebSocket) {
        guard self.webSocket == nil else { return webSocket.abort() }
        webSocket.delegate = self
        self.webSocket = webSocket
    }

    func webSocketDidOpen(_ webSocket: WebSocket) {}

    func webSocket(_ webSocket: WebSocket, didReceive text: UnsafeRawBufferPointer) {
        guard let frame = try? JSONValue(parsing: text) else { return }
        if waiting == nil { frames.append(frame) } else { give(frame) }
    }

    func webSocketDidClose(_ webSocket: WebSocket, _ reason: CloseReason) {}
}
