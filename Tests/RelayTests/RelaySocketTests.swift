import Glibc
import JSON
import Testing
import Transport

@testable import Relay

@Suite("A relay on real sockets", .timeLimit(.minutes(2)))
@EventLoop
struct RelaySocketTests {
    private func send(_ payload: JSONValue, to name: String, from peer: TestPeer) {
        peer.send(["type": "message", "to": .string(name), "payload": payload])
    }

    @Test("peers register and reach each other, in order")
    func routes() async throws {
        let relay = try TestRelay()
        let alice = try await TestPeer.register(relay.port, as: "alice")
        let bob = try await TestPeer.register(relay.port, as: "bob")
        for number in 0..<500 { send(.integer(Int64(number)), to: "bob", from: alice) }
        for number in 0..<500 {
            let frame = try await bob.next()
            #expect(frame["from"] == "alice")
            #expect(frame["payload"] == .integer(Int64(number)))
            if frame["payload"] != .integer(Int64(number)) { break }
        }
        #expect(relay.relay.stats.messagesForwarded == 500)
        #expect(relay.relay.stats.peers == 2)
        await relay.stop()
    }

    @Test("a message of nearly 1 MiB arrives, a frame over it closes with 1009")
    func large() async throws {
        let relay = try TestRelay()
        let alice = try await TestPeer.register(relay.port, as: "alice")
        let bob = try await TestPeer.register(relay.port, as: "bob")
        let text = String(repeating: "é", count: (1 << 19) - 100)
        send(.string(text), to: "bob", from: alice)
        #expect(try await bob.next()["payload"]?.string == text)
        alice.send(text: #"{"type":"message","to":"bob","payload":"\#(String(repeating: "x", count: 1 << 20))"}"#)
        #expect(try await alice.closed().code == 1_009)
        #expect(try await bob.settle().filter { $0["type"] == "message" } == [])
        await relay.stop()
    }

    @Test("an absent peer gets what was kept, oldest first, and it leaves the store when it is written")
    func offline() async throws {
        let relay = try TestRelay()
        let alice = try await TestPeer.register(relay.port, as: "alice")
        for number in 0..<120 { send(.integer(Int64(number)), to: "bob", from: alice) }
        #expect(try await alice.settle().filter { $0["type"] == "peer-offline" }.count == 120)
        #expect(relay.relay.stats.messagesQueued == 100)
        let bob = try await TestPeer.register(relay.port, as: "bob")
        for number in 20..<120 {
            let frame = try await bob.next()
            #expect(frame["type"] == "offline-message")
            #expect(frame["originalMessage"]?["payload"] == .integer(Int64(number)))
        }
        #expect(try await alice.next(type: "peer-status")["status"] == "online")
        _ = try await bob.settle()
        #expect(relay.relay.stats.messagesQueued == 0)
        #expect(relay.relay.stats.messagesDelivered == 100)
        await relay.stop()
    }

    @Test("an owner that answers keeps its id")
    func ownerAlive() async throws {
        let relay = try TestRelay()
        let owner = try await TestPeer.register(relay.port, as: "x")
        let newcomer = try #require(try await TestPeer.connect(relay.port))
        #expect(try await newcomer.register("x")["code"] == "id_taken")
        let alice = try await TestPeer.register(relay.port, as: "alice")
        send(1, to: "x", from: alice)
        #expect(try await owner.next()["payload"] == 1)
        await relay.stop()
    }

    @Test("an owner that does not answer is replaced, and its end removes nobody")
    func ownerDead() async throws {
        let relay = try TestRelay(["takeover_within_ms": 150])
        let owner = try await TestPeer.register(relay.port, as: "x")
        // Its bytes stay with the kernel, so no pong is made.
        owner.pauseReading()
        let newcomer = try #require(try await TestPeer.connect(relay.port))
        #expect(try await newcomer.register("x")["isReconnect"] == true)
        owner.resumeReading()
        let reason = try await owner.closed()
        #expect(reason.code == 4_001)
        let alice = try await TestPeer.register(relay.port, as: "alice")
        send(1, to: "x", from: alice)
        #expect(try await newcomer.next()["payload"] == 1)
        #expect(relay.relay.stats.peersReplaced == 1)
        await relay.stop()
    }

    @Test("presence, get-peers and errors reach the right peers")
    func presence() async throws {
        let relay = try TestRelay()
        let alice = try await TestPeer.register(relay.port, as: "alice")
        let stranger = try await TestPeer.register(relay.port, as: "stranger")
        let bob = try await TestPeer.register(relay.port, as: "bob")
        send(1, to: "bob", from: alice)
        _ = try await bob.next(type: "message")
        bob.abort()
        #expect(try await alice.next(type: "peer-status")["status"] == "offline")
        let again = try await TestPeer.register(relay.port, as: "bob")
        #expect(try await alice.next(type: "peer-status")["status"] == "online")
        again.send(["type": "get-peers"])
        #expect(try await again.next(type: "peers-list")["count"] == 1)
        stranger.send(["type": "get-peers"])
        #expect(try await stranger.next()["peers"] == [])
        stranger.send(text: "no json")
        #expect(try await stranger.next()["code"] == "bad_frame")
        await relay.stop()
    }

    @Test("a slow reader is dropped; nobody else waits, and what it missed is not waited for")
    func slowReader() async throws {
        let relay = try TestRelay(["max_queued_bytes": 262_144])
        let alice = try await TestPeer.register(relay.port, as: "alice")
        let slow = try await TestPeer.register(relay.port, as: "slow")
        let bob = try await TestPeer.register(relay.port, as: "bob")
        slow.pauseReading()
        bob.countsOnly = true
        let text = JSONValue.string(String(repeating: "x", count: 60_000))
        var sent = 0
        // The kernel takes some megabytes before anything waits here.
        while relay.relay.stats.slowReaders == 0, sent < 2_000 {
            for _ in 0..<10 {
                send(text, to: "slow", from: alice)
                send(1, to: "bob", from: alice)
            }
            sent += 10
            alice.send(["type": "ping"])
            _ = try await alice.next(type: "pong")
        }
        #expect(relay.relay.stats.slowReaders == 1)
        #expect(relay.log.entries.contains { $0.contains("too slowly") })
        send(2, to: "bob", from: alice)
        _ = try await alice.settle()
        _ = try await bob.sinceLastPong()
        #expect(bob.count == sent + 3, "registered, every message for bob, and his pong")
        #expect(relay.relay.stats.peers == 2)
        await relay.stop()
    }

    @Test("a thousand peers register at once from loopback")
    func manyRegistrations() async throws {
        let relay = try TestRelay()
        var peers: [TestPeer] = []
        for number in 0..<1_000 {
            let peer = try #require(try await TestPeer.connect(relay.port))
            peer.send(["type": "register", "peerId": .string("peer\(number)")])
            peers.append(peer)
        }
        for peer in peers { #expect(try await peer.next()["type"] == "registered") }
        #expect(relay.relay.stats.peers == 1_000)
        await relay.stop()
    }

    @Test("too many unregistered connections are turned away, and those that stay so are closed")
    func unregistered() async throws {
        let relay = try TestRelay([
            "max_unregistered": 5, "max_unregistered_per_address": 3, "limit_loopback": true,
            "register_within_ms": 100,
        ])
        var idle: [TestPeer] = []
        for _ in 0..<3 { idle.append(try #require(try await TestPeer.connect(relay.port))) }
        #expect(try await TestPeer.connect(relay.port) == nil)
        #expect(relay.relay.stats.turnedAway == 1)
        for peer in idle {
            let reason = try await peer.closed()
            #expect(reason.code == 1_008)
            #expect(reason.text == "register_timeout")
        }
        _ = try await TestPeer.register(relay.port, as: "alice")
        await relay.stop()
    }

    @Test("at the limit of connections the newest waits, it is said once, and it gets in when one leaves")
    func connectionLimit() async throws {
        let relay = try TestRelay(["max_connections": 2])
        let alice = try await TestPeer.register(relay.port, as: "alice")
        let bob = try await TestPeer.register(relay.port, as: "bob")
        async let waiting = TestPeer.connect(relay.port)
        send(1, to: "bob", from: alice)
        _ = try await bob.next(type: "message")
        #expect(relay.relay.stats.connections == 2)
        bob.close()
        let third = try #require(try await waiting)
        #expect(try await third.register("carol")["type"] == "registered")
        #expect(relay.log.entries.filter { $0.contains("limit") }.count == 1)
        await relay.stop()
    }

    @Test("frames over the limit of a second are refused by name")
    func rate() async throws {
        let relay = try TestRelay(["limit_loopback": true, "max_frames_per_second": 20])
        let alice = try await TestPeer.register(relay.port, as: "alice")
        for _ in 0..<60 { alice.send(["type": "ping"]) }
        #expect(try await alice.next(type: "error")["code"] == "rate_limited")
        #expect(relay.relay.stats.framesLimited > 0)
        await relay.stop()
    }

    @Test("stopping says server-shutdown, closes with 1001, and ends")
    func shutdown() async throws {
        let relay = try TestRelay()
        let alice = try await TestPeer.register(relay.port, as: "alice")
        let port = relay.port
        await relay.stop()
        #expect(try await alice.next()["type"] == "server-shutdown")
        #expect(try await alice.closed().code == 1_001)
        #expect(try await TestPeer.connect(port) == nil)
        await relay.stop()
    }

    @Test("a port in use is named; the relay that has it goes on")
    func portInUse() async throws {
        let relay = try TestRelay()
        do {
            _ = try TestRelay(["listen": .string("127.0.0.1:\(relay.port)")])
            Issue.record("a second relay listens on the same port")
        } catch let error as RelayError {
            #expect(error.code == .addressInUse)
        }
        // The health page's port counts as well, and then nothing is left open.
        do {
            _ = try TestRelay(["health": .string("127.0.0.1:\(relay.port)")])
            Issue.record("a health page listens on the relay's port")
        } catch let error as RelayError {
            #expect(error.code == .addressInUse)
        }
        _ = try await TestPeer.register(relay.port, as: "alice")
        await relay.stop()
    }

    @Test("a web page of another host is refused, an allowed one is not")
    func origins() async throws {
        let relay = try TestRelay(["allowed_origins": ["https://good.example"]])
        #expect(try await TestPeer.connect(relay.port, origin: "https://evil.example") == nil)
        #expect(try await TestPeer.connect(relay.port, origin: "https://good.example") != nil)
        await relay.stop()
    }

    @Test("the health pages have the field names of the deployed relay")
    func health() async throws {
        let relay = try TestRelay()
        let alice = try await TestPeer.register(relay.port, as: "alice")
        send(1, to: "bob", from: alice)
        _ = try await alice.next(type: "peer-offline")
        let port = try #require(relay.relay.healthPort)
        for path in ["/health", "/"] {
            let page = try await HTTPFetch.get(port, path)
            #expect(page.status == 200)
            #expect(page.json?["status"] == "healthy")
            #expect(page.json?["connections"]?["current"] == 1)
            #expect(page.json?["connections"]?["total"] == 1)
            #expect(page.json?["peers"] == 1)
            #expect(page.json?["messages"]?["offlineQueued"] == 1)
            #expect(page.json?["messages"]?["forwarded"] == 0)
            #expect(page.json?["uptime"]?.integer != nil)
        }
        let stats = try await HTTPFetch.get(port, "/stats?x=1")
        #expect(stats.json?["totalConnections"] == 1)
        #expect(stats.json?["currentConnections"] == 1)
        #expect(stats.json?["offlineMessagesStored"] == 1)
        #expect(stats.json?["offlineMessagesQueued"] == 1)
        #expect(stats.json?["startTime"]?.integer == relay.relay.stats.startedAt)
        #expect(try await HTTPFetch.get(port, "/other").status == 404)
        #expect(try await HTTPFetch.get(relay.port, "/health").status == 426, "not where peers connect")
        await relay.stop()
    }
}

extension TestPeer {
    /// For a peer that only counts: waits until its own ping was answered, which is one more in ``count``.
    fileprivate func sinceLastPong() async throws {
        countsOnly = false
        _ = try await settle()
    }
}

/// One GET over a plain socket, on a thread of its own.
private enum HTTPFetch {
    struct Page: Sendable {
        let status: Int
        let body: [UInt8]

        var json: JSONValue? { body.json }
    }

    @concurrent
    static func get(_ port: UInt16, _ path: String) async throws -> Page {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(result == 0)
        let request = "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n"
        _ = request.withCString { write(socket, $0, strlen($0)) }
        var answer: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(socket, &chunk, chunk.count)
            guard count > 0 else { break }
            answer.append(contentsOf: chunk[..<count])
        }
        let text = String(decoding: answer, as: UTF8.self)
        let status = try #require(Int(text.split(separator: " ", maxSplits: 2).dropFirst().first ?? ""))
        let end = try #require(text.firstRange(of: "\r\n\r\n"))
        return Page(status: status, body: Array(text[end.upperBound...].utf8))
    }
}
