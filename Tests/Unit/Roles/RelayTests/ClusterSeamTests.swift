import JSON
import Testing

@testable import Relay

/// What a relay asks of others, and does with their answers. The others are the test.
@Suite struct ClusterSeamTests {
    private func register(_ name: String, _ id: ConnectionID, _ bench: inout Bench) {
        bench.receive(#"{"type":"register","peerId":"\#(name)"}"#, from: id)
    }

    private func clustered() -> Bench { Bench(isClustered: true) }

    private func types(_ id: ConnectionID, _ bench: inout Bench) -> [String] {
        bench.take(id).compactMap { $0["code"]?.string ?? $0["type"]?.string }
    }

    /// A peer that the other relays have granted its id.
    private func peer(_ name: String, _ bench: inout Bench) -> ConnectionID {
        let id = bench.open()
        register(name, id, &bench)
        bench.answer(.free)
        #expect(types(id, &bench) == ["registered"])
        _ = bench.takeTold()
        return id
    }

    @Test func anIdIsGrantedWhenTheOthersAgree() {
        for (answer, says) in [
            (ClaimAnswer.free, "registered"), (.left, "registered"), (.taken, "id_taken"),
            (.proofRequired, "proof_required"),
        ] {
            var bench = clustered()
            let id = bench.open()
            register("alice", id, &bench)
            #expect(bench.claims.map(\.name.text) == ["alice"] && bench.claims.first?.isProved == false)
            #expect(types(id, &bench).isEmpty, "it waits")
            bench.answer(answer)
            #expect(types(id, &bench) == [says])
            #expect(bench.takeTold() == (says == "registered" ? ["came alice"] : []))
        }
    }

    @Test func anAnswerForAConnectionThatHasGoneOrAsksForAnotherIdChangesNothing() {
        var bench = clustered()
        let (gone, changed) = (bench.open(), bench.open())
        register("alice", gone, &bench)
        bench.close(gone)
        bench.answer(.free)
        register("bob", changed, &bench)
        register("carol", changed, &bench)
        bench.answer(.free)
        #expect(types(changed, &bench).isEmpty)
        bench.answer(.free)
        #expect(bench.takeTold() == ["came carol"])
        #expect(bench.machine.holder(of: Array("bob".utf8)) == nil)
    }

    @Test func twoConnectionsHereThatAskAtOnceAreJudgedHere() {
        var bench = clustered()
        let (first, second) = (bench.open(), bench.open())
        register("alice", first, &bench)
        register("alice", second, &bench)
        bench.answer(.free)
        bench.answer(.free)
        #expect(types(first, &bench) == ["registered"])
        bench.endProbe(answered: true)
        #expect(types(second, &bench) == ["id_taken"])
    }

    @Test func theOwnerHereIsAskedHereAndAgainIsNoClaim() {
        var bench = clustered()
        let owner = peer("alice", &bench)
        register("alice", owner, &bench)
        #expect(bench.claims.isEmpty && types(owner, &bench) == ["registered"])
        register("alice", bench.open(), &bench)
        #expect(bench.claims.isEmpty && bench.probes.count == 1)
    }

    @Test func whoLeavesIsReportedAndWhoMovesIsNotSaidToHaveGone() {
        var bench = clustered()
        let (alice, bob) = (peer("alice", &bench), peer("bob", &bench))
        bench.receive(#"{"type":"message","to":"bob","payload":1}"#, from: alice)
        bench.receive(#"{"type":"message","to":"alice","payload":1}"#, from: bob)
        _ = (bench.take(alice), bench.take(bob))
        bench.evict("bob")
        #expect(bench.takeTold() == ["left bob"])
        #expect(bench.takeClosed().map(\.1) == [.replaced])
        #expect(types(alice, &bench).isEmpty)
        #expect(bench.isWatched(Array("bob".utf8)))
        bench.receive(#"{"type":"get-peers"}"#, from: alice)
        #expect(bench.take(alice).first?["count"] == 1, "it is elsewhere")
        #expect(bench.machine.seen(Array("bob".utf8), nil, at: bench.moment).count == 1, "and then it is not")
        bench.close(alice)
        #expect(bench.takeTold() == ["left alice"])
    }

    @Test func framesForOthersAreOfferedAndKeptIfNobodyTakesThem() {
        var bench = clustered()
        let alice = peer("alice", &bench)
        bench.receive(#"{"type":"message","to":"bob","id":"m1","payload":1}"#, from: alice)
        #expect(bench.transits.count == 1 && types(alice, &bench).isEmpty)
        #expect(bench.transits[0].target.text == "bob" && bench.transits[0].sender.text == "alice")
        #expect(bench.transits[0].bytes.json?["from"] == "alice" && bench.transits[0].bytes.json?["payload"] == 1)
        bench.endTransit()
        let answer = bench.take(alice)
        #expect(answer.count == 1 && answer[0]["type"] == "peer-offline" && answer[0]["messageId"] == "m1")
        #expect(bench.takeTold() == ["kept bob"])
        // What is kept goes first: the next one is kept behind it, and nobody is asked.
        bench.receive(#"{"type":"message","to":"bob","payload":2}"#, from: alice)
        #expect(bench.transits.isEmpty && types(alice, &bench) == ["peer-offline"])
        #expect(bench.takeTold() == ["kept bob"] && bench.machine.waiting.map(\.text) == ["bob"])
        let taken = bench.machine.takeKept(for: Array("bob".utf8), isProved: false, at: bench.moment)
        #expect(taken?.frames.compactMap { $0.bytes.json?["payload"]?.integer } == [1, 2])
        let number = taken?.number ?? 0
        let bob = Array("bob".utf8)
        #expect(bench.machine.keptEnded(for: bob, delivery: number, written: [], at: bench.moment).isEmpty)
        #expect(bench.machine.waiting.count == 1)
        let again = bench.machine.takeKept(for: Array("bob".utf8), isProved: false, at: bench.moment)
        #expect(again?.frames.count == 2)
        // The first one got there, and then the peer comes to this relay: it gets the second one here.
        let here = bench.open()
        register("bob", here, &bench)
        bench.answer(.free)
        #expect(types(here, &bench) == ["registered"])
        let first = Set((again?.frames.first?.sequence).map { [$0] } ?? [])
        let actions = bench.machine.keptEnded(
            for: bob, delivery: again?.number ?? 0, written: first, at: bench.moment)
        #expect(actions.count == 2 && bench.machine.absent.frameCount == 1, "the frame, and what waits for its end")
    }

    @Test func framesAreKeptInTheirOrderAlthoughSomeAreStillOnTheirWay() {
        var bench = clustered()
        let alice = peer("alice", &bench)
        let bob = Array("bob".utf8)
        func send(_ number: Int, _ bench: inout Bench) {
            bench.receive(#"{"type":"message","to":"bob","payload":\#(number)}"#, from: alice)
        }
        bench.machine.peers.inTransit = [bob]
        for number in 1...2 { send(number, &bench) }
        bench.endTransit()
        #expect(types(alice, &bench) == ["peer-offline"])
        // The second one may have to be kept: the third one must not be kept before it.
        send(3, &bench)
        #expect(bench.transits.count == 2 && types(alice, &bench).isEmpty)
        for _ in 2...3 { bench.endTransit() }
        bench.machine.peers.inTransit = []
        send(4, &bench)
        #expect(types(alice, &bench) == ["peer-offline", "peer-offline", "peer-offline"] && bench.transits.isEmpty)
        let taken = bench.machine.takeKept(for: bob, isProved: false, at: bench.moment)
        #expect(taken?.frames.compactMap { $0.bytes.json?["payload"]?.integer } == [1, 2, 3, 4])
    }

    @Test("frames are kept in the order in which they were sent, also if a later one is kept first")
    func framesKeepTheirOrder() {
        var bench = clustered()
        bench.machine.restore([], at: bench.moment)
        let alice = peer("alice", &bench)
        for number in 1...3 { bench.receive(#"{"type":"message","to":"bob","payload":\#(number)}"#, from: alice) }
        #expect(bench.transits.count == 3)
        bench.endTransit()
        // From now on frames are kept at once, while two are still on their way.
        for number in 4...5 { bench.receive(#"{"type":"message","to":"bob","payload":\#(number)}"#, from: alice) }
        #expect(bench.transits.count == 2)
        bench.endTransit()
        bench.endTransit()
        let changes = bench.machine.takeArchiveChanges()
        let kept = changes.compactMap { change -> Int64? in
            if case .kept(let frame) = change { frame.sequence } else { nil }
        }
        #expect(changes.count == 5 && Set(kept).count == 5, "each is written once, and none is deleted")
        let taken = bench.machine.takeKept(for: Array("bob".utf8), isProved: false, at: bench.moment)
        #expect(taken?.frames.compactMap { $0.bytes.json?["payload"]?.integer } == [1, 2, 3, 4, 5])
        #expect(taken?.frames.map(\.sequence) == kept.sorted())
    }

    @Test func aFrameIsKeptForItsSenderAlthoughThatHasGone() {
        var bench = clustered()
        let alice = peer("alice", &bench)
        bench.receive(#"{"type":"message","to":"bob","payload":1}"#, from: alice)
        bench.close(alice)
        bench.endTransit()
        #expect(bench.machine.absent.frameCount == 1)
        // If the target has come to this relay in the meantime, it gets the frame.
        let carol = peer("carol", &bench)
        bench.receive(#"{"type":"message","to":"dave","payload":2}"#, from: carol)
        let dave = peer("dave", &bench)
        bench.endTransit()
        #expect(bench.take(dave).map { $0["originalMessage"]?["payload"] } == [2])
    }

    @Test func framesOfOthersGoToTheHolderAndSealedOnesOnlyToAProvedOne() {
        var bench = clustered()
        let alice = peer("alice", &bench)
        let (bob, name) = (Array("bob".utf8), Array("alice".utf8))
        let arrival = bench.machine.arrived(from: bob, to: name, isSealed: false, at: bench.moment)
        #expect(arrival?.connection == alice && arrival?.isMutual == false)
        #expect(bench.machine.arrived(from: bob, to: name, isSealed: true, at: bench.moment) == nil)
        #expect(bench.machine.arrived(from: bob, to: Array("carol".utf8), isSealed: false, at: bench.moment) == nil)
        bench.receive(#"{"type":"message","to":"bob","payload":1}"#, from: alice)
        #expect(bench.transits.first?.isMutual == true, "both have sent")
        #expect(bench.machine.arrived(from: bob, to: name, isSealed: false, at: bench.moment)?.isMutual == true)
        #expect(bench.machine.seen(bob, Whereabouts(device: Device(), registeredAt: 1), at: bench.moment).count == 1)
        #expect(bench.machine.seen(bob, Whereabouts(device: Device(), registeredAt: 2), at: bench.moment).isEmpty)
    }

    @Test(arguments: [
        "{\"name\":\"B\"}", "{\"a\":1},\"status\":\"offline\"", "{", "[]", "\u{0}",
        "{\"a\":\"" + String(repeating: "x", count: 1_024) + "\"}",
    ])
    func whatOthersSayOfADeviceIsPassedOnIfItIsAnObject(_ info: String) {
        var bench = clustered()
        let (alice, bob) = (peer("alice", &bench), Array("bob".utf8))
        _ = bench.machine.arrived(from: bob, to: Array("alice".utf8), isSealed: false, at: bench.moment)
        bench.receive(#"{"type":"message","to":"bob","payload":1}"#, from: alice)
        var device = Device()
        device.info = Array(info.utf8)
        _ = bench.machine.seen(bob, Whereabouts(device: device, registeredAt: 1), at: bench.moment)
        bench.receive(#"{"type":"peer-status","peerId":"bob"}"#, from: alice)
        let answer = bench.take(alice).last
        #expect(answer?["status"] == "online")
        #expect(answer?["deviceInfo"]?["name"] == (info.contains("name") ? "B" : nil))
    }

    @Test func contactsOfWhoComesAreWatched() {
        var bench = clustered()
        let alice = peer("alice", &bench)
        let (bob, name) = (Array("bob".utf8), Array("alice".utf8))
        _ = bench.machine.arrived(from: bob, to: name, isSealed: false, at: bench.moment)
        bench.receive(#"{"type":"message","to":"bob","payload":1}"#, from: alice)
        bench.close(alice)
        #expect(!bench.isWatched(bob))
        let again = bench.open()
        register("alice", again, &bench)
        _ = bench.takeTold()
        bench.answer(.free)
        #expect(bench.takeTold() == ["came alice", "watch bob"])
        #expect(bench.isWatched(bob))
    }

    @Test func aConnectionThatProvesItsIdLaterIsReportedAgain() throws {
        var bench = clustered()
        let prover = try Prover(1)
        let id = bench.open()
        register(prover.did, id, &bench)
        bench.answer(.free)
        #expect(bench.machine.holder(of: Array(prover.did.utf8))?.isProved == false)
        _ = bench.takeTold()
        bench.receive(prover.claim().serialized(), from: id)
        let proof = prover.proof(bench.nonce, origin: "ws://192.0.2.5:9001")
        bench.receive(prover.claim(["proof": proof]).serialized(), from: id)
        #expect(bench.remembered.count == 1 && bench.claims.first?.isProved == true, "first the disk, then the others")
        bench.answer(.free)
        #expect(bench.machine.holder(of: Array(prover.did.utf8))?.isProved == true)
        #expect(bench.takeTold() == ["came \(prover.did)"])
    }

    @Test func aRelayThatWorksAloneAsksNobody() {
        var bench = Bench()
        let alice = bench.peer("alice")
        bench.receive(#"{"type":"message","to":"bob","payload":1}"#, from: alice)
        bench.close(alice)
        #expect(bench.claims.isEmpty && bench.transits.isEmpty && bench.takeTold().isEmpty)
    }
}
