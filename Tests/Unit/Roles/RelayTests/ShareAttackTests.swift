import JSON
import Testing

@testable import Relay

/// What a stranger tries with registrations that prove nothing, and what he cannot do.
@Suite("Nobody has for himself what is everybody's: the machine")
struct ShareAttackTests {
    private func register(_ name: String, from address: String, _ bench: inout Bench) -> ConnectionID {
        let id = bench.open(from: address, isLoopback: false)
        bench.receive(#"{"type":"register","peerId":"\#(name)"}"#, from: id)
        return id
    }

    private func send(_ payload: String = "1", to name: String, from id: ConnectionID, _ bench: inout Bench) {
        bench.receive(#"{"type":"message","to":"\#(name)","payload":\#(payload)}"#, from: id)
    }

    @Test("one network cannot fill the store, with however many connections, ids and absent peers of its own invention")
    func fillStore() {
        var bench = Bench {
            $0.storage.maximumStoredBytes = 1 << 20
            $0.storage.maximumStoredBytesPerPeer = 1 << 18
            $0.storage.maximumAbsentPeers = 100
            $0.traffic.maximumFramesPerSecond = 0
        }
        let text = "\"" + String(repeating: "x", count: 50_000) + "\""
        for round in 0..<20 {
            // The same /64, each time another address.
            let thief = register("thief\(round)", from: "2001:db8:0:1::\(round + 1)", &bench)
            for number in 0..<50 { send(text, to: "nobody\(round)-\(number)", from: thief, &bench) }
            bench.close(thief)
        }
        #expect(bench.machine.absent.byteCount <= 1 << 18)
        for round in 0..<20 {
            let thief = register("thief\(round)", from: "192.0.2.66", &bench)
            for number in 0..<50 { send(to: "nobody\(round)-\(number)", from: thief, &bench) }
        }
        #expect(bench.machine.absent.peerCount <= 50)
        let refused = bench.machine.absent.refused
        let desktop = register("desktop", from: "192.0.2.7", &bench)
        for number in 0..<20 { send("\(number)", to: "phone", from: desktop, &bench) }
        #expect(bench.machine.absent.refused == refused)
        _ = bench.takeAll()
        let phone = register("phone", from: "192.0.2.8", &bench)
        #expect(bench.take(phone).filter { $0["type"] == "offline-message" }.count == 20)
    }

    @Test("two hundred strangers of one network push out nothing that a desktop has sent to an absent phone")
    func pushOut() {
        var bench = Bench()
        let desktop = register("desktop", from: "192.0.2.7", &bench)
        for number in 0..<40 { send("\(number)", to: "phone", from: desktop, &bench) }
        for number in 0..<200 {
            let thief = register("thief\(number)", from: "192.0.2.66", &bench)
            for _ in 0..<3 { send("\"evil\"", to: "phone", from: thief, &bench) }
            bench.close(thief)
        }
        _ = bench.takeAll()
        let phone = register("phone", from: "192.0.2.8", &bench)
        let kept = bench.take(phone).compactMap { $0["originalMessage"]?["payload"] }
        #expect(kept.count == 100)
        #expect(kept.compactMap(\.integer) == Array(0..<40))
    }

    @Test("behind a proxy on this machine all come from one address: the store goes on with a quarter")
    func proxied() {
        var bench = Bench { $0.storage.maximumAbsentPeers = 40 }
        let ids = (0..<10).map { bench.peer("desktop\($0)") }
        for (number, id) in ids.enumerated() { send(to: "phone\(number)", from: id, &bench) }
        #expect(bench.machine.absent.frameCount == 10 && bench.machine.absent.refused == 0)
        send(to: "one too many", from: ids[0], &bench)
        #expect(bench.machine.absent.frameCount == 10 && bench.machine.absent.refused == 1)
    }

    @Test("a thousand strangers part no two who have talked, and each hears when the other comes")
    func acquaintances() {
        var bench = Bench {
            $0.traffic.maximumFramesPerSecond = 0
            $0.names.maximumAcquaintances = 600
        }
        let desktop = register("desktop", from: "192.0.2.7", &bench)
        let phone = register("phone", from: "192.0.2.8", &bench)
        send(to: "phone", from: desktop, &bench)
        send(to: "desktop", from: phone, &bench)
        // Who was there once.
        send(to: "absent", from: desktop, &bench)
        let absent = register("absent", from: "192.0.2.9", &bench)
        send(to: "desktop", from: absent, &bench)
        bench.close(absent)
        let thief = bench.open(from: "192.0.2.66", isLoopback: false)
        for number in 0..<1_000 {
            bench.receive(#"{"type":"register","peerId":"thief\#(number)"}"#, from: thief)
            for name in ["desktop", "phone"] { send(to: name, from: thief, &bench) }
        }
        #expect(bench.machine.acquaintances.count <= 600)
        bench.close(phone)
        _ = bench.takeAll()
        _ = register("phone", from: "192.0.2.8", &bench)
        _ = register("absent", from: "192.0.2.9", &bench)
        let heard = bench.take(desktop).filter { $0["type"] == "peer-status" && $0["status"] == "online" }
        #expect(heard.compactMap { $0["peerId"]?.string } == ["phone", "absent"])
    }

    @Test("of a table that one network has filled half is left to the others")
    func fillAcquaintances() {
        var bench = Bench {
            $0.traffic.maximumFramesPerSecond = 0
            $0.names.maximumAcquaintances = 200
        }
        for number in 0..<30 {
            let thief = register("thief\(number)", from: "192.0.2.66", &bench)
            for target in 0..<30 { send(to: "nobody\(target)", from: thief, &bench) }
        }
        #expect(bench.machine.acquaintances.count == 100)
        let desktop = register("desktop", from: "192.0.2.7", &bench)
        send(to: "phone", from: desktop, &bench)
        let phone = register("phone", from: "192.0.2.8", &bench)
        send(to: "desktop", from: phone, &bench)
        bench.close(phone)
        _ = bench.takeAll()
        _ = register("phone", from: "192.0.2.8", &bench)
        #expect(bench.take(desktop).filter { $0["type"] == "peer-status" }.count == 1)
    }

    @Test("a network that is gone is forgotten, once nothing is kept for it")
    func networksEnd() {
        var bench = Bench { $0.storage.storedFor = 1_000 }
        for number in 0..<100 {
            let id = register("peer\(number)", from: "192.0.2.\(number)", &bench)
            if number < 10 { send(to: "nobody\(number)", from: id, &bench) }
            bench.close(id)
        }
        #expect(bench.machine.networks.count == 10)
        bench.advance(RelayStateMachine.acquaintanceAge)
        bench.machine.sweep(at: bench.moment)
        #expect(bench.machine.networks.count == 0)
        #expect(bench.machine.peers.count == 0)
    }
}
