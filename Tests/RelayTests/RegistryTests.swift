import Testing

@testable import Relay

@Suite("The relay's tables keep their bounds")
struct RegistryTests {
    private let moment = Moment(monotonic: 5_000, epoch: 1)

    private func store(_ change: (inout AbsentStore.Limits) -> Void = { _ in }) -> AbsentStore {
        var limits = AbsentStore.Limits(
            peers: 10, framesPerPeer: 100, bytesPerPeer: 1 << 20, bytes: 1 << 22, age: 1_000)
        change(&limits)
        return AbsentStore(limits: limits)
    }

    @Test("of 150 frames the newest 100 are kept, in order")
    func newestKept() {
        var store = store()
        for number in 0..<150 { store.keep([UInt8(number)], for: 0, at: moment) }
        let kept = store.takeForDelivery(to: 0, at: moment)
        #expect(kept.map { Int($0.bytes[0]) } == Array(50..<150))
        #expect(store.displaced == 50)
        #expect(store.frameCount == 100)
    }

    @Test("bytes of one peer and of all are bounded; one peer's frames never push out another's")
    func bytes() {
        let cost = 1_000 + AbsentStore.overhead
        var store = store {
            $0.bytesPerPeer = cost * 3
            $0.bytes = cost * 4
        }
        for _ in 0..<5 { store.keep(Array(repeating: 1, count: 1_000), for: 1, at: moment) }
        #expect(store.frameCount == 3)
        var kept = [store.keep(Array(repeating: 2, count: 1_000), for: 2, at: moment)]
        #expect(store.byteCount == cost * 4)
        kept.append(store.keep([3], for: 3, at: moment))
        kept.append(store.keep(Array(repeating: 4, count: 1_000), for: 2, at: moment))
        kept.append(store.keep(Array(repeating: 5, count: 4_000), for: 1, at: moment))
        #expect(kept == [true, false, true, false])
        let first = store.takeForDelivery(to: 1, at: moment)
        #expect(first.count == 3)
        let second = store.takeForDelivery(to: 2, at: moment)
        #expect(second.map { $0.bytes[0] } == [4])
    }

    @Test("absent peers with a store are bounded")
    func storePeers() {
        var store = store { $0.peers = 2 }
        let kept = [1, 2, 3, 1].map { store.keep([1], for: $0, at: moment) }
        #expect(kept == [true, true, false, true])
        #expect(store.refused == 1)
    }

    @Test("frames expire, and totals follow")
    func expiry() {
        var store = store()
        store.keep([1], for: 1, at: moment)
        store.keep([2], for: 1, at: Moment(monotonic: 5_500, epoch: 1))
        store.keep([3], for: 2, at: moment)
        var emptied = store.expire(at: Moment(monotonic: 6_000, epoch: 1))
        #expect(emptied == [2])
        #expect(store.frameCount == 1)
        let left = store.takeForDelivery(to: 1, at: Moment(monotonic: 6_499, epoch: 1))
        #expect(left.count == 1)
        emptied = store.expire(at: Moment(monotonic: 6_500, epoch: 1))
        #expect(emptied == [1])
        #expect(store.byteCount == 0)
        #expect(store.expired == 3)
    }

    @Test("acquaintances are mutual and bounded, for one peer and in all")
    func acquaintances() {
        var table = Acquaintances(limits: .init(perPeer: 2, total: 3))
        func meet(_ one: Int, _ other: Int, forgets expected: [Int], _ comment: Comment? = nil) {
            let forgotten = table.meet(one, other)
            #expect(forgotten == expected, comment)
        }
        meet(1, 2, forgets: [])
        meet(2, 1, forgets: [])
        meet(1, 1, forgets: [])
        #expect(table.count == 1)
        meet(1, 3, forgets: [])
        meet(1, 4, forgets: [2])
        #expect(table.of(1) == [3, 4])
        #expect(!table.know(2, 1))
        meet(5, 6, forgets: [])
        meet(7, 8, forgets: [], "full, and 7 has nobody to give up")
        #expect(!table.know(7, 8))
        meet(5, 8, forgets: [6])
        let all = table.forgetAll(of: 1)
        #expect(all == [3, 4])
        #expect(table.count == 1)
    }

    @Test("unregistered connections are counted, in all and for each address; loopback only in all")
    func doorkeeper() {
        var door = Doorkeeper(limits: .init(unregistered: 5, unregisteredPerAddress: 2, limitsLoopback: false))
        door.came(from: "a")
        door.came(from: "a")
        #expect(door.admission(of: "a", isLoopback: false) == .addressFull)
        #expect(door.admission(of: "a", isLoopback: true) == .welcome)
        #expect(door.admission(of: "b", isLoopback: false) == .welcome)
        door.left("a")
        #expect(door.admission(of: "a", isLoopback: false) == .welcome)
        for _ in 0..<4 { door.came(from: "b") }
        #expect(door.admission(of: "c", isLoopback: true) == .full)
    }

    @Test("the peer table finds each of many names after many removals")
    func peerTable() {
        var table = PeerTable()
        var generator = SeededGenerator(seed: 3)
        var model: [String: Int] = [:]
        for _ in 0..<20_000 {
            let name = "peer-\(Int.random(in: 0..<700, using: &generator))"
            let bytes = Array(name.utf8)
            let found = bytes.withUnsafeBytes { table.find($0) }
            #expect(found == model[name])
            if let index = found, Bool.random(using: &generator) {
                table.remove(index)
                model[name] = nil
            } else {
                model[name] = bytes.withUnsafeBytes { table.findOrInsert($0, at: moment) }
            }
            #expect(table.count == model.count)
        }
        #expect(Set(table.indices) == Set(model.values))
        for (name, index) in model { #expect(table[index].name == Array(name.utf8)) }
    }
}
