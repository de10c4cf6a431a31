import JSON
import Testing

@testable import Relay

@Suite("What a relay refuses to those who send too much")
struct RelayLimitTests {
    @Test("frames over the limit of a second are refused once, then dropped; loopback is free")
    func rate() {
        var bench = Bench { $0.traffic.maximumFramesPerSecond = 5 }
        let far = bench.open(from: "192.0.2.1", isLoopback: false)
        for _ in 0..<9 { bench.receive(#"{"type":"ping"}"#, from: far) }
        let answers = bench.take(far)
        #expect(answers.count == 6)
        #expect(answers.last?["code"] == "rate_limited")
        bench.advance(1_000)
        bench.receive(#"{"type":"ping"}"#, from: far)
        #expect(bench.take(far).count == 1)
        for number in 0..<3 { bench.receive(#"{"type":"register","peerId":"p\#(number)"}"#, from: far) }
        #expect(bench.take(far).map { $0["type"] } == ["registered", "error"], "a registration counts as many frames")
        let near = bench.open()
        for _ in 0..<100 { bench.receive(#"{"type":"ping"}"#, from: near) }
        #expect(bench.take(near).count == 100)
    }

    @Test("who sends ten times what it may is closed; the connections of one address share a limit, and nobody else's")
    func floods() {
        var bench = Bench {
            $0.traffic.maximumFramesPerSecond = 20
            $0.traffic.maximumFramesPerSecondPerAddress = 50
        }
        let ids = (0..<5).map { _ in bench.open(from: "192.0.2.1", isLoopback: false) }
        let other = bench.open(from: "192.0.2.2", isLoopback: false)
        for _ in 0..<199 { bench.receive(#"{"type":"ping"}"#, from: ids[0]) }
        #expect(bench.take(ids[0]).count == 21 && bench.takeClosed().isEmpty)
        for _ in 0..<2 { bench.receive(#"{"type":"ping"}"#, from: ids[0]) }
        #expect(bench.takeClosed().map(\.1) == [.tooManyFrames])
        // What it may not send takes nothing from the others; 30 are left to these.
        for _ in 0..<10 {
            for id in ids.dropFirst() { bench.receive(#"{"type":"ping"}"#, from: id) }
        }
        let answers = ids.dropFirst().map { bench.take($0) }
        #expect(answers.joined().filter { $0["type"] == "pong" }.count == 30)
        #expect(answers.map { $0.filter { $0["code"] == "rate_limited" }.count } == [1, 1, 1, 1], "each is told once")
        for _ in 0..<10 { bench.receive(#"{"type":"ping"}"#, from: other) }
        #expect(bench.take(other).count == 10)
        bench.advance(1_000)
        bench.receive(#"{"type":"ping"}"#, from: ids[1])
        #expect(bench.take(ids[1]).map { $0["type"] } == ["pong"] && bench.takeClosed().isEmpty)
    }

    @Test("bytes of large frames are counted by the second, for a connection and for its network; loopback is free")
    func bytes() {
        var bench = Bench {
            $0.traffic.maximumBytesPerSecond = 1_000
            $0.traffic.maximumBytesPerSecondPerAddress = 1_500
        }
        let one = bench.open(from: "2001:db8::1", isLoopback: false)
        let two = bench.open(from: "2001:db8::2", isLoopback: false)
        let other = bench.open(from: "2001:db8:1::2", isLoopback: false)
        let near = bench.open()
        func exceeds(_ count: Int, _ id: ConnectionID) -> Bool {
            bench.machine.exceedsBytes(count, from: id, at: bench.moment)
        }
        #expect(!exceeds(1_000, one) && exceeds(1, one))
        #expect(!exceeds(499, two) && exceeds(1, two), "the network's are used up")
        #expect(!exceeds(1_000, other))
        #expect(!exceeds(1 << 40, near))
        bench.advance(1_000)
        #expect(!exceeds(1_000, one))
    }

    @Test("aliases of typed codes are looked for sixty times a minute from one network, there or not, in every way")
    func codeLookups() {
        var bench = Bench { $0.traffic.maximumFramesPerSecond = 0 }
        func open(_ name: String, from address: String) -> ConnectionID {
            let id = bench.open(from: address, isLoopback: false)
            bench.receive(#"{"type":"register","peerId":"\#(name)"}"#, from: id)
            return id
        }
        let desktop = open("pairing-code:000030", from: "2001:db8:1::1")
        let guessers = (0..<4).map { open("guesser\($0)", from: "2001:db8:2::\($0)") }
        _ = bench.takeAll()
        var answered = 0
        var refused = 0
        for number in 0..<1_000 {
            let guesser = guessers[number % 4]
            let name = "pairing-code:\(String(1_000_000 + number).dropFirst())"
            switch number % 3 {
            case 0: bench.receive(#"{"type":"message","to":"\#(name)","payload":1}"#, from: guesser)
            case 1: bench.receive(#"{"type":"offer","to":"\#(name)"}"#, from: guesser)
            default: bench.receive(#"{"type":"register","peerId":"\#(name)"}"#, from: guesser)
            }
            let codes = bench.take(guesser).map { $0["code"] }
            if codes == ["rate_limited"] { refused += 1 } else { answered += 1 }
            // Its other frames are not affected.
            if number == 999 {
                bench.receive(#"{"type":"ping"}"#, from: guesser)
                #expect(bench.take(guesser).map { $0["type"] } == ["pong"])
            }
        }
        #expect(answered == 60 && refused == 940)
        #expect(bench.take(desktop).count == 1)
        #expect(bench.machine.counters.limitedFrames == 940)
        // Another network finds the code, and so does the first one a minute later.
        let device = open("device", from: "192.0.2.5")
        _ = bench.take(device)
        bench.receive(#"{"type":"message","to":"pairing-code:000030","payload":2}"#, from: device)
        #expect(bench.take(device) == [] && bench.take(desktop).map { $0["payload"] } == [2])
        bench.advance(60_000)
        bench.receive(#"{"type":"message","to":"pairing-code:000030","payload":3}"#, from: guessers[0])
        #expect(bench.take(desktop).map { $0["payload"] } == [3])
    }

    @Test("a network that hangs up has no new look-ups of typed codes before its minute is over")
    func countsOutliveConnections() {
        var bench = Bench()
        func codes() -> Int {
            let id = bench.open(from: "192.0.2.7", isLoopback: false)
            bench.receive(#"{"type":"register","peerId":"guesser"}"#, from: id)
            _ = bench.take(id)
            for number in 100_000..<100_040 {
                bench.receive(#"{"type":"message","to":"pairing-code:\#(number)","payload":1}"#, from: id)
            }
            defer { bench.close(id) }
            return bench.take(id).count { $0["type"] != "error" }
        }
        #expect([codes(), codes(), codes()] == [40, 20, 0])
        bench.advance(1_000)
        #expect(codes() == 0)
        bench.machine.sweep(at: bench.moment)
        #expect(codes() == 0)
        bench.advance(60_000)
        #expect(codes() == 40)
        // Nothing of it is kept for ever.
        bench.advance(120_000)
        bench.machine.sweep(at: bench.moment)
        #expect(bench.machine.counters.openConnections == 0 && bench.machine.networks.count == 0)
    }

    @Test("connections that do not register are closed, those that do are not")
    func registerDeadline() {
        var bench = Bench { $0.admission.registerWithin = 10_000 }
        let idle = bench.open()
        bench.advance(5_000)
        let later = bench.open()
        _ = bench.peer("alice")
        bench.advance(5_000)
        bench.tick()
        #expect(bench.takeClosed().map { $0.0 } == [idle])
        bench.advance(5_000)
        bench.tick()
        #expect(bench.takeClosed().map { $0.0 } == [later])
    }
}
