import Identity
import JSON
import Testing

@testable import Relay

@Suite("A relay gives an id that is a key to its owner only")
struct RelayProofTests {
    private static let origin = "ws://192.0.2.5:9001"
    private let alice: Prover
    private let mallory: Prover

    init() throws {
        try Identity.start()
        alice = try Prover(1)
        mallory = try Prover(2)
    }

    /// Registers with a proof, or with what `change` makes of it. Returns the last answer.
    @discardableResult
    private func prove(
        _ prover: Prover, _ bench: inout Bench, on id: ConnectionID, origin: String = origin,
        binding: [UInt8]? = nil, change: (inout JSONObject, String) -> Void = { _, _ in }
    ) -> JSONValue? {
        bench.receive(prover.claim().serialized(), from: id)
        let challenge = bench.take(id).last
        guard challenge?["type"] == "challenge", let nonce = challenge?["nonce"]?.string else { return challenge }
        var proof = prover.proof(nonce, origin: origin, binding: binding).object ?? [:]
        change(&proof, nonce)
        bench.receive(prover.claim(["proof": .object(proof)]).serialized(), from: id)
        return bench.take(id).first
    }

    @Test("challenge, proof, registered; the id is remembered once")
    func proves() {
        var bench = Bench()
        let id = bench.open()
        bench.receive(alice.claim().serialized(), from: id)
        let challenge = bench.take(id)
        #expect(challenge == [["type": "challenge", "nonce": .string(bench.nonce)]])
        #expect(bench.machine.registeredCount == 0)
        let proof = alice.proof(bench.nonce, origin: Self.origin)
        bench.receive(alice.claim(["proof": proof]).serialized(), from: id)
        #expect(bench.take(id).first?["type"] == "registered")
        #expect(bench.machine.registeredCount == 1)
        #expect(bench.remembered == [Array(alice.did.utf8)])
        bench.close(id)
        let again = bench.open()
        #expect(prove(alice, &bench, on: again)?["type"] == "registered")
        #expect(bench.remembered.count == 1)
    }

    @Test("a proof that is none, or not whole, registers nothing")
    func notAProof() {
        var bench = Bench()
        let id = bench.open()
        for wrong: JSONValue in [nil, "x", 1, [], [:], ["nonce": 1, "origin": "", "signature": ""]] {
            bench.receive(alice.claim().serialized(), from: id)
            bench.receive(alice.claim(["proof": wrong]).serialized(), from: id)
            #expect(bench.take(id).last?["code"] == "bad_proof", "\(wrong)")
        }
        for key in ["nonce", "origin", "signature"] {
            for value: JSONValue? in [nil, "", "x", .null, 7, .string(String(repeating: "A", count: 4_000))] {
                let answer = prove(alice, &bench, on: id) { proof, _ in proof[key] = value }
                #expect(answer?["type"] == "error", "\(key)")
            }
        }
        #expect(bench.machine.registeredCount == 0 && bench.remembered.isEmpty)
        #expect(bench.machine.counters.refusedProofs == 24)
    }

    @Test("no challenge, another connection's, an older one, one that was used, one of eleven seconds ago: refused")
    func nonces() {
        var bench = Bench()
        let id = bench.open()
        let other = bench.open()
        func send(_ nonce: String, _ bench: inout Bench) -> JSONValue? {
            bench.receive(
                alice.claim(["proof": alice.proof(nonce, origin: Self.origin)]).serialized(), from: id)
            return bench.take(id).last?["code"]
        }
        #expect(send(TextEncoding.base64url.encode(Array(repeating: 9, count: 32)), &bench) == "bad_nonce")
        bench.receive(alice.claim().serialized(), from: other)
        #expect(send(bench.nonce, &bench) == "bad_nonce")

        bench.receive(alice.claim().serialized(), from: id)
        let older = bench.nonce
        bench.receive(alice.claim().serialized(), from: id)
        #expect(send(older, &bench) == "bad_nonce")
        #expect(send(bench.nonce, &bench) == "bad_nonce", "the wrong one before it has used it up")

        bench.receive(alice.claim().serialized(), from: id)
        bench.advance(10_000)
        #expect(send(bench.nonce, &bench) == "bad_nonce")
        #expect(bench.machine.registeredCount == 0)

        bench.receive(alice.claim().serialized(), from: id)
        bench.advance(9_999)
        let nonce = bench.nonce
        bench.receive(
            alice.claim(["proof": alice.proof(nonce, origin: Self.origin)]).serialized(), from: id)
        #expect(bench.take(id).last?["type"] == "registered")
        #expect(send(nonce, &bench) == "bad_nonce", "once")
    }

    @Test("another relay's origin, another key, another channel: refused", arguments: [true, false])
    func forged(isSecure: Bool) {
        var bench = Bench()
        let binding: [UInt8]? = isSecure ? Array(repeating: 3, count: 32) : nil
        bench.security = binding.map { .bound($0) } ?? .plain
        let id = bench.open()
        for origin in ["ws://192.0.2.6:9001", "wss://192.0.2.5:9001", "ws://192.0.2.5:9002", "ws://192.0.2.5", ""] {
            #expect(prove(alice, &bench, on: id, origin: origin, binding: binding)?["code"] == "bad_origin")
        }
        #expect(
            prove(alice, &bench, on: id, binding: isSecure ? nil : Array(repeating: 3, count: 32))?["code"]
                == "bad_proof")
        #expect(prove(alice, &bench, on: id, binding: Array(repeating: 4, count: 32))?["code"] == "bad_proof")
        let answer = prove(alice, &bench, on: id, binding: binding) { proof, nonce in
            proof["signature"] = mallory.proof(nonce, origin: Self.origin, binding: binding)["signature"]
        }
        #expect(answer?["code"] == "bad_proof")
        #expect(bench.machine.registeredCount == 0)
        #expect(prove(alice, &bench, on: id, binding: binding)?["type"] == "registered")
    }

    @Test("behind a proxy the challenge leaves out the exporter; a proof with it, or for another URL, is refused")
    func proxied() {
        var bench = Bench()
        bench.security = .proxied
        bench.machine.origins = [Array("wss://relay.example:443".utf8)]
        let id = bench.open()
        bench.receive(alice.claim().serialized(), from: id)
        #expect(bench.take(id) == [["type": "challenge", "nonce": .string(bench.nonce), "exporter": false]])
        let binding = [UInt8](repeating: 3, count: 32)
        #expect(
            prove(alice, &bench, on: id, origin: "wss://relay.example:443", binding: binding)?["code"] == "bad_proof")
        #expect(prove(alice, &bench, on: id, origin: "wss://other.example:443")?["code"] == "bad_origin")
        #expect(prove(alice, &bench, on: id, origin: "wss://relay.example:443")?["type"] == "registered")
    }

    @Test("what is no key cannot be proved, and over TLS without an exporter nothing can")
    func unprovable() {
        var bench = Bench()
        let id = bench.open()
        for name in ["pc-1", "pairing-code:123456", "did:web:example.org"] {
            bench.receive(#"{"type":"register","peerId":"\#(name)","bellwire":1}"#, from: id)
            #expect(bench.take(id).last?["code"] == "unprovable")
        }
        bench.receive(#"{"type":"register","peerId":"did:key:znonsense","bellwire":1}"#, from: id)
        bench.receive(
            JSONValue.object([
                "type": "register", "peerId": "did:key:znonsense", "bellwire": 1,
                "proof": alice.proof(bench.nonce, origin: Self.origin),
            ]).serialized(), from: id)
        #expect(bench.take(id).last?["code"] == "unprovable")
        bench.security = .unbound
        #expect(prove(alice, &bench, on: id)?["code"] == "unprovable")
        #expect(bench.machine.registeredCount == 0)
    }

    @Test("an id that was ever proved is never registered unproved, online or not")
    func neverUnprovedAgain() {
        var bench = Bench()
        let owner = bench.open()
        prove(alice, &bench, on: owner)
        let thief = bench.open()
        let plain = #"{"type":"register","peerId":"\#(alice.did)"}"#
        for frame in [plain, #"{"type":"register","peerId":"\#(alice.did)","bellwire":"1"}"#] {
            bench.receive(frame, from: thief)
            #expect(bench.take(thief).last?["code"] == "proof_required")
        }
        bench.receive(plain, from: owner)
        #expect(bench.take(owner).last?["code"] == "proof_required", "its own connection neither")
        #expect(bench.probes.isEmpty, "the owner is not even asked")
        bench.close(owner)
        bench.receive(plain, from: thief)
        #expect(bench.take(thief).last?["code"] == "proof_required")
        bench.advance(48 * 60 * 60 * 1_000)
        bench.machine.sweep(at: bench.moment)
        bench.receive(plain, from: thief)
        #expect(bench.take(thief).last?["code"] == "proof_required")
        #expect(bench.machine.registeredCount == 0)
    }

    @Test("a proved register evicts an unproved owner at once, and an older proved one")
    func evicts() {
        var bench = Bench()
        let squatter = bench.open()
        bench.receive(#"{"type":"register","peerId":"\#(alice.did)"}"#, from: squatter)
        #expect(bench.take(squatter).last?["type"] == "registered", "an id that was never proved is a plain one")
        let waiting = bench.open()
        bench.receive(#"{"type":"register","peerId":"\#(alice.did)"}"#, from: waiting)
        #expect(bench.probes.count == 1)
        let first = bench.open()
        #expect(prove(alice, &bench, on: first)?["isReconnect"] == true)
        #expect(bench.takeClosed().map { $0.0 } == [squatter])
        #expect(bench.take(waiting).last?["code"] == "proof_required")
        bench.endProbe(answered: false)
        #expect(bench.takeClosed().isEmpty && bench.machine.registeredCount == 1, "the probe is nobody's any more")
        let second = bench.open()
        #expect(prove(alice, &bench, on: second)?["type"] == "registered")
        #expect(bench.takeClosed().map { $0.0 } == [first])
        // What the old ones still say, and their ends, change nothing.
        bench.receive(#"{"type":"message","to":"\#(mallory.did)","payload":1}"#, from: squatter)
        #expect(bench.take(squatter).last?["code"] == "not_registered")
        bench.close(first)
        bench.close(squatter)
        let bob = bench.peer("bob")
        bench.receive(#"{"type":"message","to":"\#(alice.did)","payload":1}"#, from: bob)
        #expect(bench.take(second).map { $0["type"] } == ["message"])
    }

    @Test("a plain registration becomes a proved one on its own connection")
    func upgrade() {
        var bench = Bench()
        let id = bench.open()
        let bob = bench.peer("bob")
        bench.receive(#"{"type":"register","peerId":"\#(alice.did)"}"#, from: id)
        bench.receive(#"{"type":"message","to":"\#(alice.did)","sealed":true,"payload":7}"#, from: bob)
        _ = bench.takeAll()
        bench.receive(alice.claim().serialized(), from: id)
        #expect(bench.machine.registeredCount == 2, "it holds its id while it is asked")
        bench.receive(alice.claim(["proof": alice.proof(bench.nonce, origin: Self.origin)]).serialized(), from: id)
        let frames = bench.take(id)
        #expect(frames.map { $0["type"] } == ["challenge", "registered", "offline-message"])
        #expect(frames.last?["originalMessage"]?["sealed"] == true)
        #expect(bench.machine.registeredCount == 2)
        #expect(bench.takeClosed().isEmpty)
    }

    @Test("a sealed message waits for a proved registration; a plain one does not")
    func sealed() {
        var bench = Bench()
        let bob = bench.peer("bob")
        let squatter = bench.open()
        bench.receive(#"{"type":"register","peerId":"\#(alice.did)"}"#, from: squatter)
        _ = bench.takeAll()
        bench.receive(#"{"type":"message","to":"\#(alice.did)","sealed":true,"payload":{"n":1}}"#, from: bob)
        bench.receive(#"{"type":"message","to":"\#(alice.did)","payload":{"n":2}}"#, from: bob)
        #expect(bench.take(bob).map { $0["type"] } == ["peer-offline"])
        #expect(bench.take(squatter).map { $0["payload"]?["n"] } == [2])
        #expect(bench.machine.absent.frameCount == 1)
        bench.close(squatter)
        bench.receive(#"{"type":"message","to":"\#(alice.did)","payload":{"n":3}}"#, from: bob)
        // Another squatter gets what is plain, and its write takes nothing else away.
        let second = bench.open()
        bench.receive(#"{"type":"register","peerId":"\#(alice.did)"}"#, from: second)
        #expect(bench.take(second).compactMap { $0["originalMessage"]?["payload"]?["n"] } == [3])
        bench.endWrite()
        #expect(bench.machine.absent.frameCount == 1)
        let owner = bench.open()
        prove(alice, &bench, on: owner)
        bench.endWrite()
        #expect(bench.machine.absent.frameCount == 0)
        #expect(bench.machine.counters.delivered == 2)
        bench.receive(#"{"type":"message","to":"\#(alice.did)","sealed":true,"payload":{"n":4}}"#, from: bob)
        let frame = bench.takeAll().last { $0.to == owner }?.frame.text
        #expect(frame?.contains(#""payload":{"n":4},"sealed":true,"timestamp""#) == true)
    }

    @Test("at the bound of remembered ids a new one is proved but not remembered, and is safe while it is there")
    func bound() throws {
        var bench = Bench { $0.names.maximumProvedIDs = 1 }
        let first = bench.open()
        prove(alice, &bench, on: first)
        let second = bench.open()
        #expect(prove(mallory, &bench, on: second)?["type"] == "registered")
        #expect(bench.remembered.count == 1 && bench.forgotten == 1)
        let thief = bench.open()
        for prover in [alice, mallory] {
            bench.receive(#"{"type":"register","peerId":"\#(prover.did)"}"#, from: thief)
            #expect(bench.take(thief).last?["code"] == "proof_required")
        }
        bench.close(first)
        bench.receive(#"{"type":"register","peerId":"\#(alice.did)"}"#, from: thief)
        #expect(bench.take(thief).last?["code"] == "proof_required", "nobody was forgotten for another")
    }

    @Test("a proof counts as many frames, so that signatures are not a way to keep a relay busy")
    func cost() {
        var bench = Bench { $0.traffic.maximumFramesPerSecond = 100 }
        let id = bench.open(from: "192.0.2.1", isLoopback: false)
        for _ in 0..<50 {
            bench.receive(alice.claim(["proof": ["nonce": "", "origin": "", "signature": ""]]).serialized(), from: id)
        }
        #expect(bench.take(id).filter { $0["code"] == "bad_nonce" }.count == 5)
    }

    @Test("one address holds so many aliases and no more, loopback too; each that goes makes room")
    func aliases() {
        var bench = Bench {
            $0.names.maximumAliasesPerAddress = 3
            $0.names.maximumAliases = 5
        }
        var held: [ConnectionID] = []
        for number in 0..<3 { held.append(bench.peer("pairing-code:00000\(number)")) }
        _ = bench.takeAll()
        let fourth = bench.peer("pairing-code:000003")
        #expect(bench.take(fourth).last?["code"] == "too_many_aliases")
        #expect(bench.machine.aliases.count == 3)
        #expect(bench.machine.peers.count == 3, "nothing stays of what was refused")
        // An id of another kind is not counted, and one alias may follow another on its connection.
        bench.receive(#"{"type":"register","peerId":"desk"}"#, from: fourth)
        bench.receive(#"{"type":"register","peerId":"pairing-code:000009"}"#, from: held[0])
        #expect(bench.take(fourth).last?["type"] == "registered" && bench.take(held[0]).last?["type"] == "registered")
        let far = bench.open(from: "2001:db8::1", isLoopback: false)
        bench.receive(#"{"type":"register","peerId":"pairing-code:000000"}"#, from: far)
        #expect(bench.take(far).last?["type"] == "registered", "each address for itself")
        bench.close(held[1])
        bench.receive(#"{"type":"register","peerId":"pairing-code:000003"}"#, from: fourth)
        #expect(bench.take(fourth).last?["type"] == "registered")
        for id in [held[0], held[2], far, fourth] { bench.close(id) }
        #expect(bench.machine.aliases.count == 0)
    }

    @Test("an alias that was waited for is not a way around the limit")
    func aliasClaims() {
        var bench = Bench { $0.names.maximumAliasesPerAddress = 1 }
        func open(_ address: String, _ alias: String, _ bench: inout Bench) -> ConnectionID {
            let id = bench.open(from: address, isLoopback: false)
            bench.receive(#"{"type":"register","peerId":"pairing-code:\#(alias)"}"#, from: id)
            return id
        }
        let owner = open("192.0.2.1", "111111", &bench)
        let waiting = open("192.0.2.2", "111111", &bench)
        let other = open("192.0.2.2", "222222", &bench)
        _ = bench.takeAll()
        bench.close(owner)
        #expect(bench.take(waiting).last?["code"] == "too_many_aliases")
        #expect(bench.machine.aliases.count == 1 && bench.machine.registeredCount == 1)
        bench.close(other)
        #expect(bench.machine.peers.count == 0)
    }
}
