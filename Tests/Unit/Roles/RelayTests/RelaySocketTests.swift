import Glibc
import JSON
import TestSupport
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
        #expect(relay.relay.stats.messages.forwarded == 500)
        #expect(relay.relay.stats.registrations.peers == 2)
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
        let before = try await TestPeer.register(relay.port, as: "bob")
        send(0, to: "alice", from: before)
        _ = try await alice.next(type: "message")
        before.abort()
        try await until("bob is gone") { relay.relay.stats.registrations.peers == 1 }
        for number in 0..<120 { send(.integer(Int64(number)), to: "bob", from: alice) }
        #expect(try await alice.settle().filter { $0["type"] == "peer-offline" }.count == 120)
        #expect(relay.relay.stats.stored.frames == 100)
        let bob = try await TestPeer.register(relay.port, as: "bob")
        for number in 20..<120 {
            let frame = try await bob.next()
            #expect(frame["type"] == "offline-message")
            #expect(frame["originalMessage"]?["payload"] == .integer(Int64(number)))
        }
        #expect(try await alice.next(type: "peer-status")["status"] == "online")
        _ = try await bob.settle()
        #expect(relay.relay.stats.stored.frames == 0)
        #expect(relay.relay.stats.stored.delivered == 100)
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
        #expect(relay.relay.stats.registrations.replaced == 1)
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
        send(1, to: "alice", from: bob)
        _ = try await alice.next(type: "message")
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
        while relay.relay.stats.connections.slowReaders == 0, sent < 2_000 {
            for _ in 0..<10 {
                send(text, to: "slow", from: alice)
                send(1, to: "bob", from: alice)
            }
            sent += 10
            alice.send(["type": "ping"])
            _ = try await alice.next(type: "pong")
        }
        #expect(relay.relay.stats.connections.slowReaders == 1)
        #expect(relay.log.entries.contains { $0.contains("too slowly") })
        send(2, to: "bob", from: alice)
        _ = try await alice.settle()
        _ = try await bob.sinceLastPong()
        #expect(bob.count == sent + 3, "registered, every message for bob, and his pong")
        #expect(relay.relay.stats.registrations.peers == 2)
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
        #expect(relay.relay.stats.registrations.peers == 1_000)
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
        #expect(relay.relay.stats.connections.turnedAway == 1)
        for peer in idle {
            let reason = try await peer.closed()
            #expect(reason.code == 1_008)
            #expect(reason.text == "register_timeout")
        }
        _ = try await TestPeer.register(relay.port, as: "alice")
        await relay.stop()
    }

    @Test("the limit of unregistered connections in all is another answer than that of one address")
    func unregisteredInAll() async throws {
        let relay = try TestRelay([
            "max_unregistered": 2, "max_unregistered_per_address": 1, "limit_loopback": false,
        ])
        // Not limited for its address, for it is loopback; in all it is.
        let first = try #require(try await TestPeer.connect(relay.port))
        let second = try #require(try await TestPeer.connect(relay.port))
        #expect(try await TestPeer.refusal(relay.port).contains("503"))
        // Who registers makes room, and so does who leaves.
        #expect(try await first.register("alice")["type"] == "registered")
        let third = try #require(try await TestPeer.connect(relay.port))
        #expect(try await TestPeer.refusal(relay.port).contains("503"))
        second.abort()
        _ = try await first.settle()
        #expect(try await third.register("bob")["type"] == "registered")
        #expect(try await TestPeer.connect(relay.port) != nil)
        #expect(relay.relay.stats.connections.turnedAway == 2)
        await relay.stop()

        let other = try TestRelay([
            "max_unregistered": 10, "max_unregistered_per_address": 1, "limit_loopback": true,
        ])
        _ = try #require(try await TestPeer.connect(other.port))
        #expect(try await TestPeer.refusal(other.port).contains("429"))
        await other.stop()
    }

    @Test("pings do not replace a registration; who registered stays")
    func registerWithin() async throws {
        let relay = try TestRelay(["register_within_ms": 500])
        let alice = try await TestPeer.register(relay.port, as: "alice")
        let idle = try #require(try await TestPeer.connect(relay.port))
        _ = try await idle.settle()
        let reason = try await idle.closed()
        #expect(reason.code == 1_008 && reason.text == "register_timeout")
        #expect(try await alice.settle() == [])
        #expect(relay.relay.stats.connections.current == 1)
        await relay.stop()
    }

    @Test("a frame over the limit ends its sender, one that grows over it on its way is refused, others go on")
    func frameLimit() async throws {
        let relay = try TestRelay(["max_frame_bytes": 4_096])
        let alice = try await TestPeer.register(relay.port, as: "a-rather-long-id-of-alice")
        let bob = try await TestPeer.register(relay.port, as: "b")
        func frame(of length: Int) -> String {
            let frame = #"{"type":"message","to":"b","payload":""}"#
            return frame.replacing(
                #""payload":""#, with: #""payload":""# + String(repeating: "x", count: length - frame.utf8.count))
        }
        alice.send(text: frame(of: 4_096))
        #expect(try await alice.next()["code"] == "frame_too_large")
        alice.send(text: frame(of: 3_900))
        #expect(try await bob.next()["payload"]?.string?.utf8.count == 3_860)
        send(1, to: "a-rather-long-id-of-alice", from: bob)
        _ = try await alice.next(type: "message")
        alice.send(text: frame(of: 4_097))
        #expect(try await alice.closed().code == 1_009)
        // One who knows bob hears of the end; nothing of the frame arrived.
        #expect(try await bob.settle().map { $0["type"] } == ["peer-status"])
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
        #expect(relay.relay.stats.connections.current == 2)
        bob.close()
        let third = try #require(try await waiting)
        #expect(try await third.register("carol")["type"] == "registered")
        // Full again, and again: who lives at the limit is told of it once.
        for _ in 0..<3 {
            async let next = TestPeer.connect(relay.port)
            _ = try await alice.settle()
            third.close()
            (try #require(try await next)).abort()
        }
        #expect(relay.log.entries.filter { $0.contains("limit") }.count == 1)
        await relay.stop()
    }

    @Test("frames over the limit of a second are refused by name, once, for that peer, for that second")
    func rate() async throws {
        let relay = try TestRelay(["limit_loopback": true, "max_frames_per_second": 50])
        let alice = try await TestPeer.register(relay.port, as: "alice")
        let bob = try await TestPeer.register(relay.port, as: "bob")
        for _ in 0..<400 { alice.send(["type": "ping"]) }
        #expect(try await alice.next(type: "error")["code"] == "rate_limited")
        #expect(try await bob.settle() == [], "bob has frames of his own")
        #expect(relay.relay.stats.messages.framesLimited > 0)
        #expect(relay.relay.stats.registrations.peers == 2)
        // Nobody is cut off: a new second, new frames.
        let asking = LoopTimer { alice.send(["type": "get-peers"]) }
        asking.start(after: 0, every: 50)
        _ = try await alice.next(type: "peers-list")
        asking.stop()
        await relay.stop()

        let free = try TestRelay(["max_frames_per_second": 1])
        let carol = try await TestPeer.register(free.port, as: "carol")
        for _ in 0..<100 { carol.send(["type": "get-peers"]) }
        #expect(try await carol.settle().count == 100, "loopback is not counted unless asked for")
        await free.stop()
    }

    @Test("an old socket's end, however late and however it comes, never removes the newer registration")
    func lateEnd() async throws {
        let relay = try TestRelay(["takeover_within_ms": 50])
        let alice = try await TestPeer.register(relay.port, as: "alice")
        var held = try await TestPeer.register(relay.port, as: "x")
        for round in 0..<4 {
            held.pauseReading()
            let newer = try #require(try await TestPeer.connect(relay.port))
            #expect(try await newer.register("x")["isReconnect"] == true)
            switch round {
            case 0: held.abort()
            case 1: held.close()
            case 2:
                held.resumeReading()
                #expect(try await held.closed().code == 4_001)
            default:
                // Still there, and it asks for its id again: the newer one answers and keeps it.
                held.send(["type": "register", "peerId": "x"])
            }
            _ = try await newer.settle()
            send(.integer(Int64(round)), to: "x", from: alice)
            #expect(try await newer.next(type: "message")["payload"] == .integer(Int64(round)))
            #expect(relay.relay.stats.registrations.peers == 2)
            held = newer
        }
        #expect(relay.relay.stats.registrations.replaced == 4)
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

    @Test("stopping waits a second for a peer that never answers the close handshake, no longer")
    func shutdownDeaf() async throws {
        let relay = try TestRelay()
        let deaf = try await TestPeer.register(relay.port, as: "deaf")
        let alice = try await TestPeer.register(relay.port, as: "alice")
        // Its bytes stay with the kernel, so no close frame is answered.
        deaf.pauseReading()
        let began = EventLoop.now
        await relay.stop()
        let duration = EventLoop.now - began
        #expect((Relay.farewell - 1...Relay.farewell + 1_500).contains(duration), "\(duration) ms")
        #expect(try await alice.closed().code == 1_001)
        // What it was told is not lost.
        deaf.resumeReading()
        #expect(try await deaf.next()["type"] == "server-shutdown")
        #expect(try await deaf.closed().code == 1_001)
    }

    @Test("stopping twice waits for the one end, and a peer that answers does not keep it")
    func shutdownTwice() async throws {
        let relay = try TestRelay()
        let deaf = try await TestPeer.register(relay.port, as: "deaf")
        deaf.pauseReading()
        var ended = 0
        relay.relay.stop { ended += 1 }
        await relay.stop()
        #expect(ended == 1)
        let second = try TestRelay()
        _ = try await TestPeer.register(second.port, as: "alice")
        let began = EventLoop.now
        await second.stop()
        #expect(EventLoop.now - began < Relay.farewell)
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
