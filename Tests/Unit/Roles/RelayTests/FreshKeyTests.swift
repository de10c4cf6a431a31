import Identity
import JSON
import Testing

@testable import Relay

/// Anyone can make one key after another: what a new key may have is its network's.
@Suite("New keys have their network's share")
struct FreshKeyTests {
    init() throws { try Identity.start() }

    @discardableResult
    private func prove(_ number: UInt8, from address: String, _ bench: inout Bench) throws -> ConnectionID {
        let prover = try Prover(number)
        let id = bench.open(from: address, isLoopback: false)
        bench.receive(prover.claim().serialized(), from: id)
        let proof = prover.proof(bench.nonce, origin: "ws://192.0.2.5:9001")
        bench.receive(prover.claim(["proof": proof]).serialized(), from: id)
        return id
    }

    private func send(to name: String, from id: ConnectionID, _ bench: inout Bench) {
        bench.receive(#"{"type":"message","to":"\#(name)","payload":1}"#, from: id)
    }

    @Test("one key after another fills no more of the store than one network may; a day later a key has its own share")
    func store() throws {
        var bench = Bench { $0.storage.maximumAbsentPeers = 40 }
        for number: UInt8 in 1...20 {
            let thief = try prove(number, from: "192.0.2.66", &bench)
            for target in 0..<3 { send(to: "nobody\(number)-\(target)", from: thief, &bench) }
            bench.close(thief)
        }
        #expect(bench.machine.absent.peerCount == 10, "a quarter")
        #expect(bench.machine.proved.count == 20)
        // Another network has its own.
        let desktop = try prove(21, from: "192.0.2.7", &bench)
        send(to: "phone", from: desktop, &bench)
        #expect(bench.machine.absent.peerCount == 11)

        bench.advance(UInt64(RelayStateMachine.freshAge))
        bench.machine.sweep(at: bench.moment)
        #expect(bench.machine.absent.peerCount == 0)
        let old = try prove(1, from: "192.0.2.66", &bench)
        for target in 0..<30 { send(to: "nobody\(target)", from: old, &bench) }
        #expect(bench.machine.absent.peerCount == 30, "it is not new any more")
    }

    @Test("fresh keys of one network push out none of what a desktop has sent")
    func pushOut() throws {
        var bench = Bench()
        let desktop = try prove(1, from: "192.0.2.7", &bench)
        for _ in 0..<40 { send(to: "phone", from: desktop, &bench) }
        for number: UInt8 in 2...101 {
            let thief = try prove(number, from: "192.0.2.66", &bench)
            for _ in 0..<3 { send(to: "phone", from: thief, &bench) }
            bench.close(thief)
        }
        let phone = bench.peer("phone")
        let kept = bench.take(phone).compactMap { $0["originalMessage"]?["from"]?.string }
        #expect(kept.count == 100)
        #expect(kept.filter { $0 == (try? Prover(1).did) }.count == 40)
    }

    @Test("one network begins half of the acquaintances at most, with however many new keys")
    func acquaintances() throws {
        var bench = Bench { $0.names.maximumAcquaintances = 40 }
        for number: UInt8 in 1...15 {
            let thief = try prove(number, from: "192.0.2.66", &bench)
            for target in 0..<4 { send(to: "nobody\(target)", from: thief, &bench) }
        }
        #expect(bench.machine.acquaintances.count == 20)
    }

    @Test("one network may have a quarter of the remembered ids new in one day, and loopback as many as there are")
    func remembered() throws {
        var bench = Bench { $0.names.maximumProvedIDs = 12 }
        for number: UInt8 in 1...5 {
            let id = try prove(number, from: "192.0.2.66", &bench)
            #expect(bench.take(id).last?["type"] == "registered", "also those that are not remembered")
            bench.close(id)
        }
        #expect(bench.remembered.count == 3 && bench.forgotten == 2)
        #expect(bench.machine.networks.count == 1, "its count outlives its connections")
        try prove(6, from: "192.0.2.7", &bench)
        #expect(bench.remembered.count == 4)
        // Those known are no new ones.
        try prove(1, from: "192.0.2.66", &bench)
        #expect(bench.remembered.count == 4 && bench.forgotten == 2)
        bench.advance(RelayStateMachine.acquaintanceAge)
        try prove(4, from: "192.0.2.66", &bench)
        #expect(bench.remembered.count == 5)
        for number: UInt8 in 7...12 {
            let prover = try Prover(number)
            let id = bench.open()
            bench.receive(prover.claim().serialized(), from: id)
            bench.receive(
                prover.claim(["proof": prover.proof(bench.nonce, origin: "ws://192.0.2.5:9001")]).serialized(), from: id
            )
        }
        #expect(bench.remembered.count == 11)
    }

    // MARK: A proof is on disk before anyone hears of it

    @Test("registered comes when the new proof is saved, not before; the next one need not wait")
    func waitsForDisk() throws {
        var bench = Bench()
        bench.isDiskSlow = true
        let id = try prove(1, from: "192.0.2.7", &bench)
        #expect(bench.take(id).map { $0["type"]?.string } == ["challenge"])
        #expect(bench.machine.registeredCount == 0)
        let did = try Prover(1).did
        // In the meantime the id is taken already, for who has no proof, and a second proof waits for the disk as well.
        let thief = bench.peer(did)
        #expect(bench.take(thief).first?["code"] == "proof_required")
        let second = try prove(1, from: "192.0.2.8", &bench)
        #expect(bench.take(second).map { $0["type"]?.string } == ["challenge"])
        #expect(bench.unsaved.count == 2)
        bench.endSaving()
        #expect(bench.take(id).map { $0["type"]?.string } == ["registered"])
        bench.endSaving()
        #expect(bench.take(second).map { $0["type"]?.string } == ["registered"])
        #expect(bench.takeClosed().map(\.0) == [id])
        let third = try prove(1, from: "192.0.2.9", &bench)
        #expect(bench.take(third).map { $0["type"]?.string } == ["challenge", "registered"])
        #expect(bench.unsaved.isEmpty)
    }

    @Test("a connection that ends or registers again while the disk is slow gets nothing of it; the id stays proved")
    func goneMeanwhile() throws {
        var bench = Bench()
        bench.isDiskSlow = true
        let gone = try prove(1, from: "192.0.2.7", &bench)
        bench.close(gone)
        let other = try prove(2, from: "192.0.2.7", &bench)
        bench.receive(#"{"type":"register","peerId":"plain"}"#, from: other)
        _ = bench.takeAll()
        bench.endSaving()
        bench.endSaving()
        #expect(bench.takeAll().isEmpty && bench.machine.registeredCount == 1)
        let thief = bench.peer(try Prover(1).did)
        #expect(bench.take(thief).first?["code"] == "proof_required")
    }

    @Test("a proof that cannot be written registers all the same, and the next one tries again")
    func diskFull() throws {
        var bench = Bench()
        bench.isDiskSlow = true
        let id = try prove(1, from: "192.0.2.7", &bench)
        bench.endSaving(isSaved: false)
        #expect(bench.take(id).last?["type"] == "registered")
        bench.close(id)
        try prove(1, from: "192.0.2.7", &bench)
        #expect(bench.unsaved.count == 1)
    }
}
