import JSON
import Testing

@testable import Relay

@Suite("Who hears of whom at a relay")
struct RelayPresenceTests {
    @Test("presence goes only to peers that have talked with the id")
    func presence() {
        var bench = Bench()
        let alice = bench.peer("alice")
        let stranger = bench.peer("stranger")
        let before = bench.peer("bob")
        bench.receive(#"{"type":"message","to":"bob","payload":1}"#, from: alice)
        bench.receive(#"{"type":"message","to":"alice","payload":1}"#, from: before)
        bench.close(before)
        _ = bench.takeAll()
        let bob = bench.open()
        bench.receive(
            #"{"type":"register","peerId":"bob","deviceType":"mobile","deviceInfo":{"name":"phone"}}"#, from: bob)
        #expect(
            bench.take(alice) == [
                [
                    "type": "peer-status", "peerId": "bob", "status": "online", "deviceType": "mobile",
                    "deviceInfo": ["name": "phone"], "timestamp": 1_700_000_000_000,
                ]
            ])
        bench.close(bob)
        #expect(bench.take(alice).map { $0["status"] } == ["offline"])
        #expect(bench.take(stranger).isEmpty)
    }

    @Test(
        "who sends to a peer that never answers hears nothing of it, live or when it asks, and the peer nothing of it")
    func presenceOfTheSilent() {
        var bench = Bench()
        let stranger = bench.peer("stranger")
        let victim = bench.peer("victim")
        for _ in 0..<2 { bench.receive(#"{"type":"message","to":"victim","payload":1}"#, from: stranger) }
        _ = bench.takeAll()
        bench.receive(#"{"type":"get-peers"}"#, from: stranger)
        bench.receive(#"{"type":"peer-status","peerId":"victim"}"#, from: stranger)
        let answers = bench.take(stranger)
        #expect(answers.map { $0["count"] } == [0, nil] && answers.map { $0["status"] } == [nil, "offline"])
        bench.close(victim)
        let again = bench.peer("victim")
        #expect(bench.take(stranger) == [])
        bench.close(stranger)
        let back = bench.peer("stranger")
        #expect(bench.take(again).map { $0["type"] } == ["registered"])
        // Once it has answered, both hear of each other.
        _ = bench.takeAll()
        bench.receive(#"{"type":"message","to":"stranger","payload":1}"#, from: again)
        _ = bench.takeAll()
        bench.close(again)
        #expect(bench.take(back).map { $0["status"] } == ["offline"])
    }

    @Test("get-peers and peer-status tell a stranger nothing")
    func getPeers() {
        var bench = Bench()
        let alice = bench.peer("alice")
        let bob = bench.peer("bob")
        let stranger = bench.peer("stranger")
        bench.receive(#"{"type":"message","to":"bob","payload":1}"#, from: alice)
        bench.receive(#"{"type":"message","to":"alice","payload":1}"#, from: bob)
        _ = bench.takeAll()
        for (asker, count) in [(alice, 1), (bob, 1), (stranger, 0)] {
            bench.receive(#"{"type":"get-peers"}"#, from: asker)
            let list = bench.take(asker).first
            #expect(list?["type"] == "peers-list")
            #expect(list?["count"]?.integer == Int64(count))
            #expect(list?["peers"]?.array?.count == count)
        }
        bench.receive(#"{"type":"get-peers"}"#, from: alice)
        let entry = bench.take(alice).first?["peers"]?.array?.first
        #expect(entry == ["peerId": "bob", "deviceType": "unknown", "connectedAt": 1_700_000_000_000])
        bench.receive(#"{"type":"peer-status","peerId":"bob"}"#, from: alice)
        bench.receive(#"{"type":"peer-status-request","peerId":"bob"}"#, from: stranger)
        #expect(bench.take(alice).first?["status"] == "online")
        let answer = bench.take(stranger).first
        #expect(answer?["type"] == "peer-status-response")
        #expect(answer?["status"] == "offline")
    }

    @Test("acquaintances of peers that are long gone are forgotten, and so are the peers")
    func forgets() {
        var bench = Bench()
        let alice = bench.peer("alice")
        bench.receive(#"{"type":"message","to":"bob","payload":1}"#, from: alice)
        #expect(bench.machine.peers.count == 2)
        bench.advance(24 * 60 * 60 * 1_000)
        bench.machine.sweep(at: bench.moment)
        #expect(bench.machine.peers.count == 1)
        #expect(bench.machine.absent.frameCount == 0)
        #expect(bench.machine.acquaintances.count == 0)
        bench.close(alice)
        #expect(bench.machine.peers.count == 0)
    }
}
