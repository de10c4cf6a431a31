import Identity
import JSON
import Store
import TestSupport
import Testing
import Wire

@testable import Sealing

/// A pairing whose MAC proves it begins a window anew that had locked its peer out (WireSealing, "Replay protection").
@Suite struct RestartTests {
    private static let now: Int64 = 1_795_308_854_536
    private static let future: Int64 = 3_029_529_600_000

    private func lockedOut() -> ReplayWindow {
        var window = ReplayWindow()
        for epoch in [Self.future, Self.future + 60_000, Self.future + 120_000] {
            for seq: Int64 in 1...20 { _ = window.record(epoch: epoch, seq: seq) }
        }
        return window
    }

    @Test("after two starts in the future a lost state is locked out; begun anew, all that follows counts once")
    func heals() throws {
        var window = lockedOut()
        #expect(!window.accepts(epoch: Self.now, seq: 3))
        window.restart(epoch: Self.now, seq: 3)
        for seq: Int64 in 1...3 { #expect(!window.accepts(epoch: Self.now, seq: seq)) }
        for epoch in [1, Self.now - 1] { #expect(!window.accepts(epoch: epoch, seq: 1_000)) }
        for seq: Int64 in 4...100 {
            let isTaken = window.record(epoch: Self.now, seq: seq)
            #expect(isTaken)
            #expect(!window.accepts(epoch: Self.now, seq: seq))
        }
        // Its later starts count too, for years.
        var later = window
        for day in [1, 365, 3_650] as [Int64] {
            let isTaken = later.record(epoch: Self.now + day * 86_400_000, seq: 1)
            #expect(isTaken)
        }
        // The starts in the future stay void, also the one that the window had forgotten.
        for epoch in [Self.future, Self.future + 60_000, Self.future + 120_000] {
            for seq: Int64 in [1, 20, 21, 5_000] {
                #expect(!window.accepts(epoch: epoch, seq: seq))
                #expect(!later.accepts(epoch: epoch, seq: seq))
            }
        }
        let isTaken = window.record(epoch: Self.future + 120_001, seq: 1)
        #expect(isTaken, "a real future")
        #expect(ReplayWindow(bytes: window.bytes) == window)
    }

    @Test("a clock that was two hours fast locks nobody out of the hours between, and its kept frames stay refused")
    func shortFuture() {
        let hour: Int64 = 3_600_000
        var window = ReplayWindow()
        _ = window.record(epoch: Self.now - 24 * hour, seq: 7)
        let fast = [0, 1, 2].map { Self.now + 2 * hour + $0 * 60_000 }
        for epoch in fast { for seq: Int64 in 1...20 { _ = window.record(epoch: epoch, seq: seq) } }
        window.restart(epoch: Self.now, seq: 3)
        for minutes in [1, 61, 90, 119] as [Int64] {
            var later = ReplayWindow(bytes: window.bytes) ?? window
            let isTaken = later.record(epoch: Self.now + minutes * 60_000, seq: 1)
            #expect(isTaken, "after \(minutes) minutes")
            for epoch in fast { for seq: Int64 in [1, 20, 21] { #expect(!later.accepts(epoch: epoch, seq: seq)) } }
        }
        let isTaken = window.record(epoch: Self.now + 3 * hour, seq: 1)
        #expect(isTaken)
        #expect(!window.accepts(epoch: Self.now - 24 * hour, seq: 8))
    }

    @Test("whatever was accepted before a new beginning is refused after it, however many starts there were")
    func forgotten() {
        for seed: UInt64 in 0..<40 {
            var generator = SeededGenerator(seed: seed)
            var window = ReplayWindow()
            var accepted: Set<Int64> = []
            for _ in 0..<60 {
                let epoch = Int64.random(in: 1...200, using: &generator)
                switch Int.random(in: 0..<6, using: &generator) {
                case 0:
                    window.restart(epoch: epoch, seq: 2)
                    accepted.insert(epoch)
                case 1:
                    window.begin(epoch: epoch, seq: 2)
                    accepted = accepted.filter { $0 != epoch }
                default: if window.record(epoch: epoch, seq: 2) { accepted.insert(epoch) }
                }
                for epoch in accepted { #expect(!window.accepts(epoch: epoch, seq: 2), "seed \(seed)") }
                #expect(ReplayWindow(bytes: window.bytes) == window)
                #expect(window.bytes.count <= 1_122)
            }
        }
    }

    @Test("a start whose numbers had come already, as of a copy that was put back, keeps what has come of them")
    func sameEpoch() {
        var window = ReplayWindow()
        for seq: Int64 in 1...20 { _ = window.record(epoch: 5, seq: seq) }
        window.restart(epoch: 5, seq: 3)
        for seq: Int64 in 1...20 { #expect(!window.accepts(epoch: 5, seq: seq)) }
        #expect(window.accepts(epoch: 5, seq: 21) && window.accepts(epoch: 6, seq: 1))
    }

    @Test("no number traps, what it is begun at never counts again, and it is stored as it is", arguments: 0..<16)
    func hostile(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let extremes: [Int64] = [.min, -1, 0, 1, 2, 3, 4_096, 1 << 40, .max - 2, .max - 1, .max]
        var window = ReplayWindow()
        for _ in 0..<300 {
            let epoch = extremes.randomElement(using: &generator) ?? 1
            let number = Bool.random(using: &generator) ? epoch : Int64.random(in: 1...200, using: &generator)
            let seq = extremes.randomElement(using: &generator) ?? 1
            if Bool.random(using: &generator) {
                _ = window.record(epoch: number, seq: seq)
            } else {
                window.restart(epoch: number, seq: seq)
                #expect(number <= 0 || seq <= 0 || number == 1 || !window.accepts(epoch: number - 1, seq: 1))
            }
            #expect(!window.accepts(epoch: number, seq: seq))
            #expect(ReplayWindow(bytes: window.bytes) == window)
            #expect(window.bytes.count <= 1_122)
        }
    }

    @Test("stored ranges are read only whole, in order, and where they make sense")
    func bytes() throws {
        var window = lockedOut()
        window.restart(epoch: Self.now, seq: 3)
        let bytes = window.bytes
        #expect(bytes.first == 2 && bytes[1] == 1)
        for count in [1, 2, 9, 17, 19, bytes.count - 1] {
            #expect(ReplayWindow(bytes: Array(bytes.prefix(count))) == nil)
        }
        #expect(ReplayWindow(bytes: [2, 0] + bytes[18...]) == nil)
        #expect(ReplayWindow(bytes: [2, 5] + bytes[2...]) == nil)
        #expect(ReplayWindow(bytes: [2, 2] + bytes[2..<18] + bytes[2...]) == nil, "the same twice")
        #expect(ReplayWindow(bytes: [2, 1] + bytes[10..<18] + bytes[2..<10] + bytes[18...]) == nil, "upside down")
    }

    @Test("a refused frame opens only where it may be a proof, and is counted where it may not")
    func opens() throws {
        let (alice, bob) = (try Party(), try Party())
        let receiver = bob.sealer(windows: [alice.id: lockedOut()])
        let sender = alice.sealer(epoch: Self.now)
        let ack = try sender.seal(["type": "pair-ack", "bw": ["mac": "x"]], to: bob.id, now: 1)
        #expect(receiver.refusal { _ = try receiver.open(ack, from: alice.id) } == .replayed)
        var asked: [JSONObject] = []
        let opened = try receiver.open(ack, from: alice.id) { body in
            asked.append(body)
            return true
        }
        #expect(opened.mark.isStale && opened.body["type"] == "pair-ack" && asked.count == 1)
        #expect(receiver.refused.replayed == 1)
        receiver.keep(alice.id, since: opened.mark)
        #expect(receiver.refusal { _ = try receiver.open(ack, from: alice.id) } == .replayed)
        let push = try sender.seal(["type": "x"], to: bob.id, now: 1)
        #expect(
            try !receiver.open(push, from: alice.id) { _ in
                Issue.record("asked"); return true
            }.mark.isStale)
        let old = alice.sealer(epoch: Self.future)
        let future = try old.seal(["type": "x"], to: bob.id, now: 1)
        #expect(receiver.refusal { _ = try receiver.open(future, from: alice.id) } == .replayed)
    }

    @Test("the store begins anew as the sealer does")
    func stored() throws {
        let database = try Database.open(path: ":memory:", migrations: SealStates.migrations).database
        let peer = try Party().id
        let mark = SealMark(peer: peer, epoch: Self.now, seq: 3, isStale: true)
        let window = try database.run { (connection) throws(StoreError) in
            let states = SealStates(connection)
            for epoch in [Self.future, Self.future + 1] {
                try states.save(SealMark(peer: peer, epoch: epoch, seq: 1))
            }
            #expect(try states.save(mark) == false)
            try states.begin(mark)
            return try states.window(of: peer)
        }
        #expect(window?.accepts(epoch: Self.now, seq: 4) == true)
        #expect(window?.accepts(epoch: Self.future, seq: 2) == false)
        database.close()
    }
}
