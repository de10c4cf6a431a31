import Identity
import JSON
import TestSupport
import Testing
import Transport

@testable import Relay

/// What somebody tries who is no friend, over real sockets.
@Suite("A relay that is attacked", .timeLimit(.minutes(2)))
@EventLoop
struct RelayAttackTests {
    private let alice: Prover
    private let mallory: Prover

    init() throws {
        try Identity.start()
        alice = try Prover(1)
        mallory = try Prover(2)
    }

    @Test("an id that was proved is not had without a proof, with a wrong, an empty or a used one")
    func withoutProof() async throws {
        let relay = try TestRelay()
        let owner = try #require(try await TestPeer.connect(relay.port))
        let nonce = try await owner.challenge(alice)
        let used = alice.proof(nonce, origin: relay.origin)
        #expect(try await owner.answer(alice, proof: used)["type"] == "registered")

        let thief = try #require(try await TestPeer.connect(relay.port))
        #expect(try await thief.register(alice.did)["code"] == "proof_required")
        for empty: JSONValue in [[:], .null, "", ["nonce": "", "origin": "", "signature": ""]] {
            _ = try await thief.challenge(alice)
            #expect(try await thief.answer(alice, proof: empty)["type"] == "error")
        }
        _ = try await thief.challenge(alice)
        #expect(try await thief.answer(alice, proof: used)["code"] == "bad_nonce")
        let own = try await thief.challenge(alice)
        #expect(
            try await thief.answer(alice, proof: mallory.proof(own, origin: relay.origin))["code"] == "bad_proof")
        #expect(try await thief.answer(alice, proof: used)["code"] == "bad_nonce")
        // The frame that the owner itself had sent, word by word, on a new connection.
        let replay = try #require(try await TestPeer.connect(relay.port))
        #expect(try await replay.answer(alice, proof: used)["code"] == "bad_nonce")

        let bob = try await TestPeer.register(relay.port, as: "bob")
        bob.send(["type": "message", "to": .string(alice.did), "payload": 1])
        #expect(try await owner.next(type: "message")["payload"] == 1)
        #expect(try await thief.settle() == [])
        #expect(relay.relay.stats.registrations.peers == 2 && relay.relay.stats.registrations.replaced == 0)
        await relay.stop()
    }

    @Test("a live owner is not evicted without a proof, and is at once with one; the squatter's end removes nobody")
    func eviction() async throws {
        let relay = try TestRelay(["takeover_within_ms": 60_000])
        let squatter = try await TestPeer.register(relay.port, as: alice.did)
        // Deaf: had it been asked for a sign of life, nothing would happen for a minute.
        squatter.pauseReading()
        let owner = try #require(try await TestPeer.connect(relay.port))
        #expect(try await owner.prove(alice, origin: relay.origin)["isReconnect"] == true)
        squatter.resumeReading()
        #expect(try await squatter.closed().code == 4_001)
        let newer = try #require(try await TestPeer.connect(relay.port))
        #expect(try await newer.prove(alice, origin: relay.origin)["isReconnect"] == true)
        #expect(try await owner.closed().code == 4_001)
        let thief = try #require(try await TestPeer.connect(relay.port))
        #expect(try await thief.register(alice.did)["code"] == "proof_required")
        #expect(try await newer.settle() == [])
        #expect(relay.relay.stats.registrations.peers == 1)
        await relay.stop()
    }

    @Test("a forged from is overwritten, in messages and in frames that are routed whole, however it is written")
    func forgedFrom() async throws {
        let relay = try TestRelay()
        let bob = try await TestPeer.register(relay.port, as: "bob")
        let thief = try await TestPeer.register(relay.port, as: "thief")
        let victim = alice.did
        for frame in [
            #"{"type":"message","to":"bob","from":"\#(victim)","payload":{"from":"x"}}"#,
            #"{"from":"\#(victim)","type":"message","payload":{},"to":"bob"}"#,
            #"{"type":"message","to":"bob","fr\u006fm":"\#(victim)","payload":{}}"#,
            #"{"type":"pairing:confirmation","to":"bob","from":"\#(victim)"}"#,
            #"{"type":"offer","to":"bob","\u0066rom":"\#(victim)","sdp":""}"#,
        ] {
            thief.send(text: frame)
            #expect(try await bob.next()["from"] == "thief")
        }
        thief.send(text: #"{"type":"message","from":"thief","to":"bob","from":"\#(victim)","payload":{}}"#)
        #expect(try await thief.next()["code"] == "duplicate_key")
        #expect(try await bob.settle() == [])
        await relay.stop()
    }

    @Test("a proof for one TLS connection is worth nothing on another")
    func otherChannel() async throws {
        let certificate = try await TestCertificates.get()
        let relay = try TestRelay(["tls": certificate.relayOptions])
        func connect() async throws -> TestPeer {
            try #require(try await TestPeer.connect(relay.port, caFile: certificate.authority))
        }
        let honest = try await connect()
        let thief = try await connect()
        let binding = try #require(honest.channelBinding)
        #expect(binding.count == 32 && thief.channelBinding != binding)
        // The victim's signature over the thief's nonce, but for the channel that the victim sees.
        #expect(try await thief.prove(alice, origin: relay.origin, binding: binding)["code"] == "bad_proof")
        let nonce = try await thief.challenge(alice)
        let unbound = alice.proof(nonce, origin: relay.origin)
        #expect(try await thief.answer(alice, proof: unbound)["code"] == "bad_proof")
        #expect(try await honest.prove(alice, origin: relay.origin)["type"] == "registered")
        await relay.stop()
    }

    @Test("nobody holds thousands of aliases, from loopback neither")
    func aliases() async throws {
        let relay = try TestRelay(["max_unregistered": 10_000])
        var peers: [TestPeer] = []
        var held = 0
        for code in 0..<2_000 {
            let peer = try #require(try await TestPeer.connect(relay.port))
            peer.send(["type": "register", "peerId": .string("pairing-code:\(100_000 + code)")])
            peers.append(peer)
        }
        for peer in peers {
            let answer = try await peer.next()
            if answer["type"] == "registered" {
                held += 1
            } else {
                #expect(answer["code"] == "too_many_aliases")
            }
        }
        #expect(held == RelayOptions().names.maximumAliasesPerAddress)
        #expect(relay.relay.stats.registrations.aliases == held)
        // Nor does one connection hold two.
        #expect(try await peers[0].register("pairing-code:000001")["type"] == "registered")
        #expect(relay.relay.stats.registrations.aliases == held)
        #expect(try await peers[1_999].register("desk")["type"] == "registered")
        for peer in peers.prefix(held) { peer.abort() }
        let later = try #require(try await TestPeer.connect(relay.port))
        _ = try await later.settle()
        #expect(try await later.register("pairing-code:000002")["type"] == "registered")
        await relay.stop()
    }

    @Test("acks sent ahead to an alias are not kept for whoever takes it")
    func ackAhead() async throws {
        let relay = try TestRelay()
        let thief = try await TestPeer.register(relay.port, as: "thief")
        for code in 0..<200 {
            thief.send([
                "type": "message", "to": .string("pairing-code:\(100_000 + code)"), "payload": ["type": "pair-ack"],
            ])
        }
        #expect(try await thief.settle().filter { $0["type"] == "peer-offline" }.count == 200)
        let desktop = try await TestPeer.register(relay.port, as: "pairing-code:100007")
        #expect(try await desktop.settle() == [])
        #expect(relay.relay.stats.stored.frames == 0)
        await relay.stop()
    }

    @Test("what is sealed is kept from a squatter, and given to the owner")
    func sealed() async throws {
        let relay = try TestRelay()
        let bob = try await TestPeer.register(relay.port, as: "bob")
        let squatter = try await TestPeer.register(relay.port, as: alice.did)
        let frame: JSONValue = [
            "type": "message", "to": .string(alice.did), "sealed": true,
            "payload": ["type": "bellwire:sealed", "payload": ["v": 1, "nonce": "n", "box": "b"]],
        ]
        bob.send(frame)
        #expect(try await bob.next(type: "peer-offline")["peerId"] == .string(alice.did))
        #expect(try await squatter.settle() == [])
        let owner = try #require(try await TestPeer.connect(relay.port))
        #expect(try await owner.prove(alice, origin: relay.origin)["type"] == "registered")
        let stored = try await owner.next(type: "offline-message")["originalMessage"]
        #expect(stored?["sealed"] == true && stored?["from"] == "bob" && stored?["payload"] == frame["payload"])
        bob.send(frame)
        let live = try await owner.next(type: "message")
        #expect(live["sealed"] == true && live["payload"] == frame["payload"])
        _ = try await owner.settle()
        #expect(relay.relay.stats.stored.frames == 0)
        await relay.stop()
    }

    @Test("a thousand proofs that prove nothing cost nobody else their place")
    func flood() async throws {
        let relay = try TestRelay()
        let alicesPeer = try #require(try await TestPeer.connect(relay.port))
        try await alicesPeer.prove(alice, origin: relay.origin)
        let thief = try #require(try await TestPeer.connect(relay.port))
        for _ in 0..<1_000 {
            thief.send(alice.claim())
            thief.send(alice.claim(["proof": alice.proof("AAAA", origin: relay.origin)]))
        }
        let answers = try await thief.settle()
        #expect(answers.filter { $0["code"] == "bad_nonce" }.count == 1_000)
        #expect(relay.relay.stats.registrations.proofsRefused == 1_000)
        #expect(try await alicesPeer.settle() == [])
        #expect(Set(answers.compactMap { $0["nonce"]?.string }).count == 1_000, "no nonce comes twice")
        await relay.stop()
    }
}
