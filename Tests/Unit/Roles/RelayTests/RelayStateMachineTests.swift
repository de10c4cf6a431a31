import JSON
import Testing

@testable import Relay

@Suite("What a relay decides")
struct RelayStateMachineTests {
    // MARK: Registration

    @Test("a free id is given at once")
    func registers() {
        var bench = Bench()
        let alice = bench.peer("alice")
        let answer = bench.take(alice)
        #expect(answer == [["type": "registered", "peerId": "alice", "serverTime": 1_700_000_000_000]])
        #expect(bench.machine.registeredCount == 1)
        #expect(bench.machine.doorkeeper.unregistered == 0)
    }

    @Test("a register without a usable peerId is refused by name")
    func badRegister() {
        var bench = Bench()
        let id = bench.open()
        for (frame, code) in [
            (#"{"type":"register"}"#, "missing_peer_id"),
            (#"{"type":"register","peerId":5}"#, "bad_peer_id"),
            (#"{"type":"register","peerId":""}"#, "bad_peer_id"),
            (#"{"type":"register","peerId":"\#(String(repeating: "x", count: 257))"}"#, "bad_peer_id"),
            (#"{"type":"register","peerId":"a","peerId":"b"}"#, "duplicate_key"),
            (#"{"type":"register""#, "bad_frame"),
            (#"[]"#, "bad_frame"),
            (#"{"type":"nonsense"}"#, "unknown_type"),
            (#"{"peerId":"a"}"#, "unknown_type"),
            (#"{"a":\#(String(repeating: "[", count: 10_000))"#, "too_deep"),
        ] {
            bench.receive(frame, from: id)
            let answer = bench.take(id)
            #expect(answer.count == 1)
            #expect(answer.first?["type"] == "error")
            #expect(answer.first?["code"]?.string == code)
        }
        #expect(bench.machine.registeredCount == 0)
    }

    @Test("an Android phone that has tried WebRTC keeps its DID beside its second id, and sends from its DID")
    func phoneWithTwoIDs() {
        var bench = Bench()
        let phone = bench.peer("did:key:zAndroid.Phone-1")
        let desk = bench.peer("desk")
        _ = bench.takeAll()
        bench.receive(#"{"type":"register","peerId":"mobile-1f3a9c0e","deviceType":"mobile"}"#, from: phone)
        #expect(bench.take(phone).map { $0["peerId"] } == ["mobile-1f3a9c0e"])
        #expect(bench.machine.registeredCount == 3)
        for id in ["did:key:zAndroid.Phone-1", "mobile-1f3a9c0e"] {
            bench.receive(#"{"type":"message","to":"\#(id)","payload":"\#(id)"}"#, from: desk)
            #expect(bench.take(phone).map { $0["payload"] } == [.string(id)])
        }
        bench.receive(#"{"type":"message","to":"desk","payload":1}"#, from: phone)
        #expect(bench.take(desk).map { $0["from"] } == ["did:key:zAndroid.Phone-1"])
        // Each registration again is answered, and changes nothing.
        for id in ["did:key:zAndroid.Phone-1", "mobile-1f3a9c0e"] {
            bench.receive(#"{"type":"register","peerId":"\#(id)"}"#, from: phone)
            #expect(bench.take(phone).map { $0["peerId"] } == [.string(id)])
        }
        // Another second id takes the place of that one alone.
        bench.receive(#"{"type":"register","peerId":"mobile-00000000"}"#, from: phone)
        #expect(bench.machine.registeredCount == 3)
        bench.receive(#"{"type":"message","to":"mobile-1f3a9c0e","payload":1}"#, from: desk)
        #expect(bench.take(desk).map { $0["type"] } == ["peer-offline"])
        _ = bench.takeAll()
        bench.close(phone)
        #expect(bench.machine.registeredCount == 1)
        _ = bench.takeAll()
        for id in ["did:key:zAndroid.Phone-1", "mobile-00000000"] {
            bench.receive(#"{"type":"message","to":"\#(id)","payload":1}"#, from: desk)
            #expect(bench.take(desk).map { $0["type"] } == ["peer-offline"])
        }
    }

    @Test("who loses one of two ids loses both, and those kept frames that came for the second one are delivered")
    func losesBoth() {
        var bench = Bench()
        let desk = bench.peer("desk")
        bench.receive(#"{"type":"message","to":"mobile-1f3a9c0e","payload":"kept"}"#, from: desk)
        let phone = bench.peer("did:key:zAndroid.Phone-1")
        _ = bench.takeAll()
        bench.receive(#"{"type":"register","peerId":"mobile-1f3a9c0e"}"#, from: phone)
        #expect(bench.take(phone).map { $0["type"] } == ["registered", "offline-message"])
        bench.endWrite()
        #expect(bench.machine.absent.frameCount == 0)
        let newer = bench.open()
        bench.receive(#"{"type":"register","peerId":"did:key:zAndroid.Phone-1"}"#, from: newer)
        bench.endProbe(answered: false)
        #expect(bench.takeClosed().map { $0.0 } == [phone])
        #expect(bench.machine.registeredCount == 2)
        bench.close(phone)
        #expect(bench.machine.registeredCount == 2)
        // Its reconnection has both again.
        bench.receive(#"{"type":"register","peerId":"mobile-1f3a9c0e"}"#, from: newer)
        #expect(bench.machine.registeredCount == 3)
    }

    @Test(
        "no other second id is kept beside the first",
        arguments: ["mobile-1f3a9c0", "mobile-1f3a9c0e1", "mobile-1F3A9C0E", "mobile-1f3a9c0g", "desktop-1f3a9c0e"])
    func otherSecondIDs(second: String) {
        var bench = Bench()
        let phone = bench.peer("did:key:zAndroid.Phone-1")
        bench.receive(#"{"type":"register","peerId":"\#(second)"}"#, from: phone)
        #expect(bench.machine.registeredCount == 1)
        let other = bench.peer("phone")
        bench.receive(#"{"type":"register","peerId":"mobile-00000000"}"#, from: other)
        #expect(bench.machine.registeredCount == 2)
    }

    @Test("another id on the same socket releases the first, and those who know it hear so")
    func secondID() {
        var bench = Bench()
        let alice = bench.peer("alice")
        let bob = bench.peer("bob")
        bench.receive(#"{"type":"message","to":"alice","payload":1}"#, from: bob)
        bench.receive(#"{"type":"message","to":"bob","payload":1}"#, from: alice)
        _ = bench.takeAll()
        bench.receive(#"{"type":"register","peerId":"alice2"}"#, from: alice)
        #expect(bench.take(bob).map { $0["status"] } == ["offline"])
        #expect(bench.take(alice).map { $0["peerId"] } == ["alice2"])
        #expect(bench.machine.registeredCount == 2)
        bench.receive(#"{"type":"message","to":"alice","payload":1}"#, from: bob)
        #expect(bench.take(bob).first?["type"] == "peer-offline")
        #expect(bench.take(alice).isEmpty)
    }

    @Test("the same id again from its own socket is answered, and nobody else hears of it")
    func sameIDAgain() {
        var bench = Bench()
        let alice = bench.peer("alice")
        let bob = bench.peer("bob")
        bench.receive(#"{"type":"message","to":"alice","payload":1}"#, from: bob)
        _ = bench.takeAll()
        bench.receive(#"{"type":"register","peerId":"alice"}"#, from: alice)
        #expect(bench.take(alice).first?["isReconnect"] == true)
        #expect(bench.takeAll().isEmpty)
    }

    // MARK: Takeover

    @Test("an owner that answers keeps its id, the newcomer gets an error")
    func ownerAlive() {
        var bench = Bench()
        let owner = bench.peer("x")
        let newcomer = bench.peer("x")
        _ = bench.take(owner)
        #expect(bench.take(newcomer).isEmpty)
        #expect(bench.probes.map(\.owner) == [owner])
        bench.endProbe(answered: true)
        let answer = bench.take(newcomer)
        #expect(answer.first?["code"] == "id_taken")
        #expect(answer.first?["peerId"] == "x")
        #expect(bench.take(owner).isEmpty)
        #expect(bench.machine.registeredCount == 1)
    }

    @Test("an owner that does not answer is replaced, and its end removes nobody")
    func ownerDead() {
        var bench = Bench()
        let owner = bench.peer("x")
        let newcomer = bench.peer("x")
        _ = bench.takeAll()
        bench.endProbe(answered: false)
        #expect(bench.take(newcomer).first?["isReconnect"] == true)
        #expect(bench.takeClosed().map { $0.0 } == [owner])
        bench.receive(#"{"type":"message","to":"x","payload":1}"#, from: owner)
        #expect(bench.take(owner).first?["code"] == "not_registered")
        bench.close(owner)
        #expect(bench.machine.registeredCount == 1)
        let bob = bench.peer("bob")
        bench.receive(#"{"type":"message","to":"x","payload":1}"#, from: bob)
        #expect(bench.take(newcomer).map { $0["type"] } == ["message"])
    }

    @Test("an owner that goes while it is asked leaves its id to the newcomer at once")
    func ownerLeaves() {
        var bench = Bench()
        let owner = bench.peer("x")
        let newcomer = bench.peer("x")
        _ = bench.takeAll()
        bench.close(owner)
        #expect(bench.take(newcomer).first?["type"] == "registered")
        bench.endProbe(answered: false)
        #expect(bench.takeAll().isEmpty && bench.takeClosed().isEmpty)
        #expect(bench.machine.registeredCount == 1)
    }

    @Test("a newcomer that goes leaves the owner alone; the newest of several waits")
    func newcomers() {
        var bench = Bench()
        let owner = bench.peer("x")
        let first = bench.peer("x")
        bench.close(first)
        bench.endProbe(answered: false)
        #expect(bench.takeClosed().isEmpty)
        let second = bench.peer("x")
        let third = bench.peer("x")
        bench.receive(#"{"type":"register","peerId":"x"}"#, from: third)
        #expect(bench.take(second).first?["code"] == "id_taken")
        #expect(bench.probes.count == 1)
        bench.endProbe(answered: false)
        #expect(bench.take(third).first?["type"] == "registered")
        #expect(bench.takeClosed().map { $0.0 } == [owner])
    }

    @Test("who waits for an id is not closed for not having registered")
    func waitingIsNotIdle() {
        var bench = Bench { $0.admission.registerWithin = 1_000 }
        let owner = bench.peer("x")
        let newcomer = bench.peer("x")
        let idle = bench.open()
        bench.advance(1_000)
        bench.tick()
        #expect(bench.takeClosed().map { $0.0 } == [idle])
        bench.endProbe(answered: true)
        bench.advance(1_000)
        bench.tick()
        #expect(bench.takeClosed().map { $0.0 } == [newcomer])
        #expect(bench.isOpen(owner))
    }

    // MARK: Routing

    @Test("a message is routed with the registered id, its payload byte by byte as it came")
    func routes() {
        var bench = Bench()
        let alice = bench.peer(#"al\"ice"#)
        let bob = bench.peer("b\\u006fb")
        _ = bench.takeAll()
        bench.receive(
            #"{"from":"mallory","payload":{"n": 1.50,"t":"\u00e9" } ,"to":"bob","type":"message","x":1}"#, from: alice)
        let sent = bench.takeAll()
        #expect(sent.map(\.to) == [bob])
        #expect(
            sent.first?.frame.text
                == #"{"type":"message","from":"al\"ice","payload":{"n": 1.50,"t":"\u00e9" },"timestamp":1700000000000}"#
        )
    }

    @Test("sealed is what says true and nothing else; whoever has not proved its id does not get it")
    func sealed() {
        var bench = Bench()
        let alice = bench.peer("alice")
        let bob = bench.peer("bob")
        _ = bench.takeAll()
        bench.receive(#"{"type":"message","to":"bob","sealed":true,"payload":{}}"#, from: alice)
        bench.receive(#"{"type":"message","to":"bob","sealed":"true","payload":{}}"#, from: alice)
        bench.receive(#"{"type":"message","to":"bob","sealed":1,"payload":{}}"#, from: alice)
        bench.receive(#"{"type":"offer","to":"bob","sealed":true,"sdp":""}"#, from: alice)
        #expect(bench.take(bob).map { $0["type"] } == ["message", "message", "offer"])
        #expect(bench.take(alice).map { $0["type"] } == ["peer-offline"])
        #expect(bench.machine.absent.frameCount == 1)
    }

    @Test(
        "signalling frames are routed whole, from overwritten or added",
        arguments: [
            "offer", "answer", "ice-candidate", "ice-candidates", "pairing:request", "pairing:confirmation",
            "pairing:reject",
        ])
    func routesWhole(type: String) {
        var bench = Bench()
        let alice = bench.peer("alice")
        let bob = bench.peer("bob")
        _ = bench.takeAll()
        bench.receive(#"{"type":"\#(type)","to":"bob","from":"mallory","sdp":{"a":[1]},"from2":1}"#, from: alice)
        bench.receive(#"  {"type":"\#(type)","to":"bob","code":"012345"}"#, from: alice)
        bench.receive(#"{"type":"\#(type)","to":"bob","fr\u006fm":{"x":1}}"#, from: alice)
        let frames = bench.takeAll()
        #expect(frames.allSatisfy { $0.to == bob })
        #expect(
            frames.map(\.frame.text) == [
                #"{"type":"\#(type)","to":"bob","from":"alice","sdp":{"a":[1]},"from2":1}"#,
                #"{"from":"alice","type":"\#(type)","to":"bob","code":"012345"}"#,
                #"{"type":"\#(type)","to":"bob","fr\u006fm":"alice"}"#,
            ])
    }

    @Test("who is not registered, or names no target or payload, gets an error by name")
    func badRouting() {
        var bench = Bench()
        let stranger = bench.open()
        let alice = bench.peer("alice")
        _ = bench.takeAll()
        bench.receive(#"{"type":"message","to":"alice","from":"alice","payload":1}"#, from: stranger)
        bench.receive(#"{"type":"get-peers"}"#, from: stranger)
        bench.receive(#"{"type":"peer-status","peerId":"alice"}"#, from: stranger)
        #expect(bench.take(stranger).map { $0["code"] } == ["not_registered", "not_registered", "not_registered"])
        for (frame, code) in [
            (#"{"type":"message","payload":1}"#, "missing_to"),
            (#"{"type":"message","to":[],"payload":1}"#, "bad_to"),
            (#"{"type":"offer","to":""}"#, "bad_to"),
            (#"{"type":"message","to":"alice"}"#, "missing_payload"),
            (#"{"type":"message","to":"alice","payload":null}"#, "missing_payload"),
        ] {
            bench.receive(frame, from: alice)
            #expect(bench.take(alice).map { $0["code"]?.string } == [code])
        }
        #expect(bench.takeAll().isEmpty)
    }

    @Test("peer-offline carries the id and the type that the frame had")
    func peerOffline() {
        var bench = Bench()
        let alice = bench.peer("alice")
        _ = bench.takeAll()
        bench.receive(#"{"type":"message","to":"bob","payload":1}"#, from: alice)
        bench.receive(#"{"type":"offer","to":"b\u006fb","id":17}"#, from: alice)
        bench.receive(#"{"type":"message","to":"bob","payload":1,"messageId":"m-1","id":"other"}"#, from: alice)
        let answers = bench.take(alice)
        #expect(answers.map { $0["type"] } == ["peer-offline", "peer-offline", "peer-offline"])
        #expect(answers.map { $0["peerId"] } == ["bob", "bob", "bob"])
        #expect(answers.map { $0["messageId"] } == [nil, 17, "m-1"])
        #expect(answers.map { $0["messageType"] } == ["message", "offer", "message"])
        #expect(answers.first?["timestamp"] == 1_700_000_000_000)
    }

    @Test("a frame that would outgrow the limit on its way is refused, not sent")
    func outgrown() {
        var bench = Bench { $0.traffic.maximumFrame = 4_096 }
        let alice = bench.peer(String(repeating: "a", count: 200))
        let bob = bench.peer("bob")
        _ = bench.takeAll()
        let payload = String(repeating: "x", count: 4_096 - 60)
        bench.receive(#"{"type":"message","to":"bob","payload":"\#(payload)"}"#, from: alice)
        #expect(bench.take(alice).first?["code"] == "frame_too_large")
        #expect(bench.take(bob).isEmpty)
    }

    @Test("ping is answered with the time, pong with nothing")
    func ping() {
        var bench = Bench()
        let id = bench.open()
        bench.receive(#"{"type":"ping"}"#, from: id)
        bench.receive(#"{"type":"pong","timestamp":1}"#, from: id)
        #expect(bench.take(id) == [["type": "pong", "timestamp": 1_700_000_000_000]])
    }

    // MARK: Absent peers

    @Test("what was kept comes after registered, oldest first, and goes only when it was written")
    func offline() {
        var bench = Bench()
        let alice = bench.peer("alice")
        for number in 0..<3 {
            bench.receive(#"{"type":"message","to":"bob","payload":\#(number)}"#, from: alice)
            bench.advance(10)
        }
        let bob = bench.peer("bob")
        let frames = bench.take(bob)
        #expect(frames.map { $0["type"] } == ["registered", "offline-message", "offline-message", "offline-message"])
        #expect(frames.dropFirst().map { $0["originalMessage"]?["payload"] } == [0, 1, 2])
        #expect(frames[1]["originalMessage"]?["from"] == "alice")
        #expect(frames[1]["storedAt"] == 1_700_000_000_000)
        #expect(frames[1]["deliveredAt"] == 1_700_000_000_030)

        // Registering again does not send them twice while they are on their way.
        bench.receive(#"{"type":"register","peerId":"bob"}"#, from: bob)
        #expect(bench.take(bob).count == 1)

        // The connection breaks before they were written: they come again.
        bench.close(bob)
        let again = bench.peer("bob")
        #expect(bench.take(again).count == 4)
        bench.endWrite()
        #expect(bench.machine.absent.frameCount == 3, "the first connection's write is nobody's any more")
        bench.endWrite()
        #expect(bench.machine.absent.frameCount == 0)
        #expect(bench.machine.counters.delivered == 3)
        bench.close(again)
        let last = bench.peer("bob")
        #expect(bench.take(last).count == 1)
    }

    @Test("a write that ends after its connection took another id takes nothing from that one's store")
    func writtenToAnotherID() {
        var bench = Bench()
        let alice = bench.peer("alice")
        bench.receive(#"{"type":"message","to":"second","payload":1}"#, from: alice)
        bench.receive(#"{"type":"message","to":"first","payload":2}"#, from: alice)
        let id = bench.peer("first")
        bench.receive(#"{"type":"register","peerId":"second"}"#, from: id)
        bench.endWrite()
        #expect(bench.machine.absent.frameCount == 2)
        bench.endWrite()
        #expect(bench.machine.absent.frameCount == 1)
        let other = bench.peer("first")
        #expect(bench.take(other).last?["originalMessage"]?["payload"] == 2)
    }

    @Test("a chain of ids that wait for each other is passed on to its end, however long")
    func longChain() {
        var bench = Bench()
        let count = 5_000
        let ids = (0..<count).map { bench.peer("peer\($0)") }
        for number in 1..<count {
            bench.receive(#"{"type":"register","peerId":"peer\#(number - 1)"}"#, from: ids[number])
        }
        _ = bench.takeAll()
        bench.close(ids[0])
        let answers = bench.takeAll()
        #expect(answers.filter { $0.frame.json?["type"] == "registered" }.count == count - 1)
        #expect(bench.machine.registeredCount == count - 1)
    }

    @Test("a peer whose connection is closing counts as absent")
    func closingTarget() {
        var bench = Bench()
        let alice = bench.peer("alice")
        let bob = bench.peer("bob")
        _ = bench.takeAll()
        let frame = Array(#"{"type":"message","to":"bob","payload":7}"#.utf8)
        bench.receive(frame, from: alice)
        #expect(bench.take(bob).count == 1)
        bench.receive(frame, from: alice, isTargetClosing: true)
        #expect(bench.take(alice).first?["type"] == "peer-offline")
        #expect(bench.machine.counters.forwarded == 0)
        bench.close(bob)
        let again = bench.peer("bob")
        #expect(bench.take(again).last?["originalMessage"]?["payload"] == 7)
    }

    @Test("nothing is kept for the alias of a typed code, and nobody knows it")
    func aliases() {
        var bench = Bench()
        let alice = bench.peer("alice")
        for to in ["pairing-code:123456", #"pairing\u002dcode:123456"#] {
            bench.receive(#"{"type":"message","to":"\#(to)","payload":1}"#, from: alice)
            #expect(bench.take(alice).last?["type"] == "peer-offline")
        }
        #expect(bench.machine.absent.frameCount == 0)
        #expect(bench.machine.peers.count == 1)
        let alias = bench.peer("pairing-code:123456")
        #expect(bench.take(alias).count == 1)
        #expect(bench.take(alice).isEmpty)
        bench.receive(#"{"type":"message","to":"pairing-code:123456","payload":1}"#, from: alice)
        #expect(bench.take(alias).count == 1)
        bench.receive(#"{"type":"get-peers"}"#, from: alice)
        #expect(bench.take(alice).first?["count"] == 0)
    }
}
