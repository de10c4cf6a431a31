import TestSupport
import Testing
import Transport

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
        let kept = store.takeForDelivery(to: 0, isProved: false, at: moment)?.frames ?? []
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
        let first = store.takeForDelivery(to: 1, isProved: false, at: moment)?.frames ?? []
        #expect(first.count == 3)
        let second = store.takeForDelivery(to: 2, isProved: false, at: moment)?.frames ?? []
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
        let left = store.takeForDelivery(to: 1, isProved: false, at: Moment(monotonic: 6_499, epoch: 1))?.frames ?? []
        #expect(left.count == 1)
        emptied = store.expire(at: Moment(monotonic: 6_500, epoch: 1))
        #expect(emptied == [1])
        #expect(store.byteCount == 0)
        #expect(store.expired == 3)
    }

    @Test("sealed frames wait for one who proved, and are not lost with the plain ones that went before")
    func sealed() {
        var store = store()
        for number in 0..<6 { store.keep([UInt8(number)], for: 1, isSealed: number % 2 == 1, at: moment) }
        let plain = store.takeForDelivery(to: 1, isProved: false, at: moment)
        #expect(plain?.frames.map { $0.bytes[0] } == [0, 2, 4])
        var again = store.takeForDelivery(to: 1, isProved: false, at: moment)
        #expect(again == nil)
        let sealed = store.takeForDelivery(to: 1, isProved: true, at: moment)
        #expect(sealed?.frames.map { $0.bytes[0] } == [1, 3, 5])
        store.written(to: 1, through: plain?.number ?? 0)
        #expect(store.frameCount == 3, "the sealed ones are on their way only")
        store.deliveryEnded(for: 1)
        store.written(to: 1, through: sealed?.number ?? 0)
        #expect(store.frameCount == 3, "that delivery is nobody's any more")
        again = store.takeForDelivery(to: 1, isProved: true, at: moment)
        #expect(again?.frames.count == 3)
        store.written(to: 1, through: again?.number ?? 0)
        #expect(store.frameCount == 0 && store.byteCount == 0 && store.peerCount == 0)
    }

    @Test("proved ids are bounded, and none is ever dropped for another")
    func provedIDs() {
        var ids = ProvedIDs(limit: 2)
        for name: [UInt8] in [[1], [2]] {
            #expect(ids.insertion(of: name) == .new)
            ids.insert(name, at: 5)
            #expect(ids.insertion(of: name) == .unsaved)
            ids.saved(name)
            #expect(ids.insertion(of: name) == .known)
        }
        #expect(ids.insertion(of: [3]) == .full)
        #expect(ids.contains([1]) && ids.contains([2]) && !ids.contains([3]))
        let loaded = ProvedIDs(limit: 1, names: [([7], 1), ([8], 2)])
        #expect(loaded.contains([7]) && !loaded.contains([8]) && loaded.since([7]) == 1)
    }

    @Test("aliases are counted for an address, of IPv6 for its /64, and in all")
    func aliasHolders() {
        #expect(PeerAddress.network(of: "192.0.2.7") == "192.0.2.7")
        #expect(
            PeerAddress.network(of: "2001:db8:1:2::1") == PeerAddress.network(of: "2001:db8:1:2:ffff:ffff:ffff:fffe"))
        #expect(PeerAddress.network(of: "2001:db8:1:2::1") != PeerAddress.network(of: "2001:db8:1:3::1"))
        var holders = AliasHolders(limits: .init(perAddress: 2, total: 3))
        holders.came(from: "a")
        holders.came(from: "a")
        #expect(!holders.hasPlace(for: "a", releasing: false) && holders.hasPlace(for: "a", releasing: true))
        #expect(holders.hasPlace(for: "b", releasing: false))
        holders.came(from: "b")
        #expect(!holders.hasPlace(for: "c", releasing: false), "the limit of all")
        holders.left("a")
        #expect(holders.hasPlace(for: "a", releasing: false) && holders.count == 2)
    }

    @Test("acquaintances are mutual and bounded, for one peer and in all")
    func acquaintances() {
        var table = Acquaintances(limits: .init(perPeer: 2, total: 3))
        func meet(_ one: Int, _ other: Int, forgets expected: [Int], _ comment: Comment? = nil) {
            let forgotten = table.meet(one, other, from: nil)
            #expect(forgotten == expected, comment)
        }
        meet(1, 2, forgets: [])
        meet(2, 1, forgets: [])
        meet(1, 1, forgets: [])
        #expect(table.count == 1)
        meet(1, 3, forgets: [])
        meet(1, 4, forgets: [3], "1 and 2 have both sent")
        #expect(table.of(1) == [2, 4])
        #expect(!table.know(3, 1))
        meet(5, 6, forgets: [])
        meet(7, 8, forgets: [], "full, and 7 has nobody to give up")
        #expect(!table.know(7, 8))
        meet(5, 8, forgets: [6])
        let all = table.forgetAll(of: 1)
        #expect(all == [2, 4])
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

    @Test("of IPv6 a /64 counts as one address")
    func doorkeeperOfNetworks() {
        var door = Doorkeeper(limits: .init(unregistered: 50, unregisteredPerAddress: 2, limitsLoopback: false))
        door.came(from: "2001:db8:1:2::1")
        door.came(from: "2001:db8:1:2:ffff::2")
        #expect(door.admission(of: "2001:db8:1:2::3", isLoopback: false) == .addressFull)
        #expect(door.admission(of: "2001:db8:1:3::3", isLoopback: false) == .welcome)
        door.left("2001:db8:1:2::1")
        #expect(door.admission(of: "2001:db8:1:2::3", isLoopback: false) == .welcome)
    }

    @Test("an owned buffer keeps what it holds when it grows, and lets go of it at its end")
    func ownedBuffer() {
        final class Thing {}
        var things: [Thing] = []
        weak var replaced: Thing?
        do {
            var buffer = OwnedBuffer<Thing?>(repeating: nil, count: 3)
            for _ in 0..<100 {
                let thing = Thing()
                things.append(thing)
                buffer.append(thing)
            }
            #expect(buffer.count == 103)
            #expect(buffer.indices.dropFirst(3).allSatisfy { buffer[$0] === things[$0 - 3] })
            do {
                let thing = Thing()
                replaced = thing
                buffer[1] = thing
            }
            #expect(replaced != nil)
            buffer[1] = nil
            #expect(replaced == nil)
            buffer[2] = things[0]
        }
        weak let last = things[0]
        things = []
        #expect(last == nil)
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
        for (name, index) in model { #expect(table.name(of: index) == Array(name.utf8)) }
    }
}
