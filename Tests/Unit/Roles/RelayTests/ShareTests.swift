import TestSupport
import Testing

@testable import Relay

extension AbsentStore {
    /// From one who is not limited.
    @discardableResult
    mutating func keep(_ frame: [UInt8], for peer: Int, isSealed: Bool = false, at moment: Moment) -> Bool {
        keep(frame, for: peer, from: .proved(1_000), isSealed: isSealed, at: moment)
    }
}

@Suite("Nobody has for himself what is everybody's: the tables")
struct ShareTests {
    private let moment = Moment(monotonic: 5_000, epoch: 1)

    private func store(_ change: (inout AbsentStore.Limits) -> Void = { _ in }) -> AbsentStore {
        var limits = AbsentStore.Limits(
            peers: 100, framesPerPeer: 100, bytesPerPeer: 1 << 20, bytes: 1 << 22, age: 1_000)
        change(&limits)
        return AbsentStore(limits: limits)
    }

    private func kept(_ store: AbsentStore, for peer: Int) -> [AbsentStore.StoredFrame] {
        var store = store
        return store.takeForDelivery(to: peer, isProved: true, at: moment)?.frames ?? []
    }

    // MARK: The store

    @Test("a network has a quarter of the bytes: over it its own oldest for that peer go, else the new one is refused")
    func bytesOfNetwork() {
        let cost = 1_000 + AbsentStore.overhead
        var store = store {
            $0.bytes = cost * 16
            $0.bytesPerPeer = cost * 16
        }
        func keep(_ byte: UInt8, for peer: Int, from source: AbsentStore.Source) -> Bool {
            store.keep(Array(repeating: byte, count: 1_000), for: peer, from: source, at: moment)
        }
        #expect((1...3).allSatisfy { keep($0, for: 1, from: .network(7)) })
        #expect(keep(4, for: 2, from: .network(7)))
        #expect(!keep(5, for: 3, from: .network(7)), "nothing of its own there to go")
        #expect(store.refused == 1 && store.displaced == 0)
        #expect(keep(6, for: 1, from: .network(7)))
        #expect(kept(store, for: 1).map { $0.bytes[0] } == [2, 3, 6])
        #expect(kept(store, for: 2).map { $0.bytes[0] } == [4])
        #expect(store.displaced == 1 && store.byteCount == cost * 4)
        let isLongKept = store.keep(Array(repeating: 0, count: cost * 4), for: 1, from: .network(7), at: moment)
        #expect(!isLongKept)
        #expect(kept(store, for: 1).count == 3, "what finds no place pushes nothing out")
        // Another network has its own quarter, and the proved have all that is left.
        #expect((0..<4).allSatisfy { keep($0, for: 4, from: .network(8)) })
        #expect((0..<8).allSatisfy { keep($0, for: 5, from: .proved(9)) })
        #expect(store.byteCount == cost * 16)
        store.written(to: 2, through: store.takeForDelivery(to: 2, isProved: false, at: moment)?.number ?? 0)
        #expect(keep(7, for: 3, from: .network(7)), "what was delivered counts no more")
        _ = store.expire(at: Moment(monotonic: 6_000, epoch: 1))
        #expect(!store.holds(7) && !store.holds(8) && store.byteCount == 0)
    }

    @Test("a network has something for a quarter of the absent peers, for one at least")
    func peersOfNetwork() {
        var store = store { $0.peers = 8 }
        func keep(for peer: Int, from source: AbsentStore.Source) -> Bool {
            store.keep([1], for: peer, from: source, at: moment)
        }
        #expect([1, 2, 3, 1, 2].map { keep(for: $0, from: .network(7)) } == [true, true, false, true, true])
        #expect([3, 4, 5].map { keep(for: $0, from: .network(8)) } == [true, true, false])
        #expect((5...8).allSatisfy { keep(for: $0, from: .proved(1)) })
        #expect(!keep(for: 9, from: .proved(1)), "the limit of all")
        #expect(!keep(for: 5, from: .network(7)), "nor beside what others have sent")
        #expect(store.peerCount == 8)
        var small = self.store { $0.peers = 2 }
        let kept = [1, 1, 2].map { small.keep([1], for: $0, from: .network(1), at: moment) }
        #expect(kept == [true, true, false])
    }

    @Test("hundreds of frames of a stranger push out none of the few that a desktop has sent, nor half of its many")
    func fairQueue() {
        for desktop in [AbsentStore.Source.proved(1), .network(1)] {
            var store = store()
            for number: UInt8 in 0..<30 { store.keep([number], for: 5, from: desktop, at: moment) }
            for _ in 0..<500 { store.keep([255], for: 5, from: .network(2), at: moment) }
            #expect(store.refused == 0)
            #expect(kept(store, for: 5).filter { $0.source == desktop }.map { $0.bytes[0] } == Array(0..<30))
            #expect(store.frameCount == 100)
            // Its newer ones come in the place of the stranger's.
            for number: UInt8 in 30..<80 { store.keep([number], for: 5, from: desktop, at: moment) }
            #expect(kept(store, for: 5).filter { $0.source == desktop }.map { $0.bytes[0] } == Array(30..<80))
            for _ in 0..<500 { store.keep([255], for: 5, from: .network(2), at: moment) }
            #expect(kept(store, for: 5).filter { $0.source == desktop }.count == 50)
        }
    }

    @Test("long frames of a stranger push out none of a desktop's short ones")
    func fairBytes() {
        var store = store { $0.bytesPerPeer = 100_000 }
        for number: UInt8 in 0..<20 { store.keep([number], for: 5, from: .proved(1), at: moment) }
        for _ in 0..<50 { store.keep(Array(repeating: 255, count: 30_000), for: 5, from: .network(2), at: moment) }
        #expect(kept(store, for: 5).filter { $0.source == .proved(1) }.count == 20)
        #expect(kept(store, for: 5).count == 23)
        let isLongKept = store.keep(Array(repeating: 255, count: 99_900), for: 5, from: .network(3), at: moment)
        #expect(!isLongKept && kept(store, for: 5).count == 23)
        // Who has little there pushes out who has much.
        let isShortKept = store.keep(Array(repeating: 3, count: 20_000), for: 5, from: .network(3), at: moment)
        #expect(isShortKept && kept(store, for: 5).filter { $0.source == .network(2) }.count == 2)
    }

    @Test("whatever comes and goes: no network has more than its share, and all totals are right", arguments: 1...8)
    func randomStore(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var store = store {
            $0.peers = 12
            $0.framesPerPeer = 10
            $0.bytesPerPeer = 4_000
            $0.bytes = 20_000
        }
        let sources = [AbsentStore.Source.network(0), .network(1), .network(2), .network(3), .proved(0), .proved(1)]
        var now = moment
        var kept: UInt64 = 0
        var written: UInt64 = 0
        for _ in 0..<1_000 {
            now.monotonic += UInt64.random(in: 0...3, using: &generator)
            let peer = Int.random(in: 0..<16, using: &generator)
            switch Int.random(in: 0..<40, using: &generator) {
            case 0:
                let delivery = store.takeForDelivery(to: peer, isProved: Bool.random(using: &generator), at: now)
                guard let delivery, Bool.random(using: &generator) else { continue }
                let before = store.frameCount
                store.written(to: peer, through: delivery.number)
                written += UInt64(before - store.frameCount)
            case 1: store.deliveryEnded(for: peer)
            case 2: _ = store.expire(at: now)
            default:
                let count = Int.random(in: 0..<(Bool.random(using: &generator) ? 20 : 2_000), using: &generator)
                let before = self.all(store, now)
                let source = sources.randomElement(using: &generator) ?? .proved(0)
                let isKept = store.keep(
                    Array(repeating: 0, count: count), for: peer, from: source,
                    isSealed: Bool.random(using: &generator), at: now)
                if isKept { kept += 1 }
                let after = self.all(store, now)
                for other in before.keys where other != peer { #expect(before[other] == after[other]) }
                if !isKept { #expect(before[peer] == after[peer]) }
            }
            check(store, sources, kept: kept, written: written)
        }
        #expect(store.displaced > 0 && store.refused > 0)
        _ = store.expire(at: Moment(monotonic: now.monotonic + 1_000, epoch: 1))
        for network in 0..<4 { #expect(!store.holds(network)) }
        #expect(store.frameCount == 0 && store.byteCount == 0 && store.peerCount == 0)
    }

    /// How much is kept for each.
    private func all(_ store: AbsentStore, _ now: Moment) -> [Int: Int] {
        var counts: [Int: Int] = [:]
        for peer in 0..<16 { counts[peer] = store.queue(of: peer)?.frames.count }
        return counts
    }

    private func check(_ store: AbsentStore, _ sources: [AbsentStore.Source], kept: UInt64, written: UInt64) {
        let queues = (0..<16).compactMap { store.queue(of: $0) }
        #expect(queues.count == store.peerCount && queues.count <= 12)
        #expect(queues.allSatisfy { !$0.frames.isEmpty && $0.frames.count <= 10 && $0.bytes <= 4_000 })
        #expect(queues.reduce(0) { $0 + $1.frames.count } == store.frameCount)
        #expect(queues.reduce(0) { $0 + $1.bytes } == store.byteCount && store.byteCount <= 20_000)
        #expect(kept == UInt64(store.frameCount) + store.displaced + store.expired + written)
        for queue in queues {
            #expect(queue.bytes == queue.frames.reduce(0) { $0 + $1.cost })
            #expect(Set(queue.holdings.map(\.source)) == Set(queue.frames.map(\.source)))
            for holding in queue.holdings {
                let own = queue.frames.filter { $0.source == holding.source }
                #expect(holding.frames == own.count && holding.bytes == own.reduce(0) { $0 + $1.cost })
            }
        }
        for source in sources {
            guard case .network(let network) = source else { continue }
            let holdings = queues.compactMap { $0.holding(of: source) }
            #expect(holdings.count <= 3 && holdings.reduce(0) { $0 + $1.bytes } <= 5_000)
            #expect(store.holds(network) == !holdings.isEmpty)
        }
    }

    // MARK: Acquaintances

    @Test("a pair in which both have sent never goes for one in which one has; strangers go first, the oldest first")
    func mutualStay() {
        var table = Acquaintances(limits: .init(perPeer: 4, total: 100))
        func meet(_ one: Int, _ other: Int, forgets expected: [Int] = []) {
            let forgotten = table.meet(one, other, from: nil)
            #expect(forgotten == expected)
        }
        // 1 knows 2, and waits for 3; 4 and 5 are strangers.
        for (one, other) in [(1, 2), (2, 1), (1, 3), (4, 1), (5, 1)] { meet(one, other) }
        #expect(table.of(1) == [2, 3, 4, 5])
        meet(6, 1, forgets: [4])
        meet(7, 1, forgets: [5])
        meet(1, 8, forgets: [6])
        meet(1, 9, forgets: [7])
        // No stranger is left: what 1 began itself does not go for one, but for what it begins now.
        meet(10, 1)
        #expect(!table.know(10, 1))
        meet(1, 10, forgets: [3])
        for peer in [8, 9, 10] { meet(peer, 1) }
        meet(1, 11)
        meet(11, 1)
        #expect(table.of(1) == [2, 8, 9, 10], "only such are left, and a newcomer is not noted")
        #expect(!table.know(11, 1))
        for stranger in 20..<2_000 { meet(stranger, 1) }
        #expect(table.of(1) == [2, 8, 9, 10])
    }

    @Test("of a full table a network has half; it replaces its own, and nobody else's goes for it")
    func pairsOfNetwork() {
        var table = Acquaintances(limits: .init(perPeer: 100, total: 10))
        func meet(_ one: Int, _ other: Int, from network: Int?, forgets expected: [Int] = []) {
            let forgotten = table.meet(one, other, from: network)
            #expect(forgotten == expected)
        }
        for target in 1...5 { meet(0, target, from: 7) }
        meet(0, 6, from: 7, forgets: [1])
        meet(50, 51, from: 7)
        #expect(!table.know(50, 51) && table.count == 5)
        // Both ends its own: it counts all the same.
        for target in 2...6 { meet(target, 0, from: 7) }
        meet(0, 9, from: 7)
        #expect(!table.know(0, 9))
        for target in 61...64 { meet(60, target, from: 8) }
        meet(70, 71, from: nil)
        #expect(table.count == 10)
        meet(72, 73, from: nil)
        #expect(!table.know(72, 73), "full, and 72 has nobody to give up")
        meet(60, 65, from: 8, forgets: [61])
        #expect(table.holds(7) && table.holds(8))
        let known = table.forgetAll(of: 0)
        #expect(known.sorted() == [2, 3, 4, 5, 6])
        #expect(!table.holds(7))
        meet(50, 51, from: 7)
        #expect(table.know(50, 51))
    }

    @Test(
        "whoever talks with whom: both sides agree, the bounds hold, no pair of two who talk is lost", arguments: 1...8)
    func randomPairs(seed: UInt64) {
        struct Pair: Hashable {
            let low: Int
            let high: Int
        }
        var generator = SeededGenerator(seed: seed)
        var table = Acquaintances(limits: .init(perPeer: 5, total: 30))
        // Who of the two has sent since they know each other, and for which network the pair counts.
        var model: [Pair: (senders: Set<Int>, network: Int?)] = [:]
        for step in 0..<1_500 {
            let one = Int.random(in: 0..<20, using: &generator)
            if Int.random(in: 0..<200, using: &generator) == 0 {
                for other in table.forgetAll(of: one) {
                    #expect(model.removeValue(forKey: Pair(low: min(one, other), high: max(one, other))) != nil)
                }
            } else {
                let other = Int.random(in: 0..<20, using: &generator)
                let network = [0, 1, nil].randomElement(using: &generator) ?? nil
                let pair = Pair(low: min(one, other), high: max(one, other))
                let before = model
                let version = table.version
                let forgotten = table.meet(one, other, from: network)
                #expect((version == table.version) == forgotten.isEmpty)
                model = model.filter { table.know($0.key.low, $0.key.high) }
                #expect(before.count - model.count == forgotten.count)
                for (gone, what) in before where model[gone] == nil {
                    #expect(what.senders.count == 1, "step \(step): two who talk were parted")
                    #expect([gone.low, gone.high].contains { $0 == one || $0 == other })
                }
                if table.know(one, other) {
                    model[pair, default: ([], network)].senders.insert(one)
                }
            }
            #expect(table.count == model.count && model.count <= 30)
            for network in 0..<2 {
                let held = model.values.filter { $0.network == network }.count
                #expect(held <= 15 && table.holds(network) == (held > 0))
            }
            for peer in 0..<20 {
                let known = table.of(peer)
                #expect(known.count <= 5 && known.allSatisfy { table.know($0, peer) })
                #expect(known.count == model.keys.filter { $0.low == peer || $0.high == peer }.count)
            }
        }
    }

    // MARK: Networks

    @Test("a network has one number while a connection comes from it or something is counted for it")
    func networks() {
        var networks = Networks()
        let first = networks.came(from: "192.0.2.1")
        let second = networks.came(from: "2001:db8:1:2::1")
        let same = networks.came(from: "2001:db8:1:2:ffff::9")
        #expect(same == second && first != second)
        networks.left(second, isCounted: false)
        #expect(networks.count == 2)
        networks.left(second, isCounted: true)
        let again = networks.came(from: "2001:db8:1:2::3")
        #expect(again == second)
        networks.left(second, isCounted: true)
        networks.left(first, isCounted: false)
        networks.sweep { $0 == second }
        #expect(networks.count == 1)
        networks.sweep { _ in false }
        #expect(networks.count == 0)
        let reused = [networks.came(from: "a"), networks.came(from: "b")]
        #expect(Set(reused) == [first, second])
    }
}
