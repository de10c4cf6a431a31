@testable import Delivery
import Notifications
import Sealing
import TestSupport
import Testing
import Wire

/// Numbered pushes: answered from memory, committed in order, one commit at a time.
@Suite struct PushReceiverTests {
    private func push(_ seq: Int64, from desktop: PeerID = "d", over route: RouteID? = "lan") -> ReceivedPush {
        let id = NotificationID("\(desktop.text)-\(seq)")
        return ReceivedPush(
            desktop: desktop, notification: Notification(id: id, title: "T", createdAt: 1, receivedAt: 1), seq: seq,
            mark: SealMark(peer: desktop, epoch: 1, seq: seq), route: route)
    }

    private func skip(through seq: Int64) -> ReceivedSkip {
        ReceivedSkip(desktop: "d", through: seq, mark: SealMark(peer: "d", epoch: 1, seq: 1_000 + seq), route: "lan")
    }

    private static let names: [RouteID: String] = ["lan": "lan", "wan": "wan"]

    /// Actions in words.
    private func words(_ actions: [PushReceiver.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .commit(let items): "commit " + items.map(\.word).joined(separator: ",")
            case .acknowledge(let desktop, let through, let route):
                "ack \(desktop.text) \(through) \(route.flatMap { Self.names[$0] } ?? "-")"
            case .drop(let push, let drop): "drop \(push.seq ?? 0) \(drop)"
            }
        }
    }

    @Test("what comes during a commit is committed together, and acknowledged once")
    func batches() {
        var receiver = PushReceiver()
        #expect(words(receiver.received(push(1), now: 0)) == ["commit d1"])
        #expect(words(receiver.received(push(2), now: 0)) == [])
        #expect(words(receiver.received(push(1, from: "e"), now: 0)) == [])
        #expect(words(receiver.received(push(3, over: "wan"), now: 0)) == [])
        #expect(words(receiver.committed([.stored])) == ["ack d 1 lan", "commit d2,e1,d3"])
        #expect(words(receiver.committed([.stored, .stored, .stored])) == ["ack e 1 lan", "ack d 3 wan"])
        #expect(receiver.committed(of: "d") == 3 && receiver.committed(of: "e") == 1)
        #expect(receiver.counters.admitted == 4 && receiver.counters.duplicates == 0)
    }

    @Test("its position names the epoch of the push that was stored last, and says if the desktop sends in another one")
    func positions() {
        func push(_ seq: Int64, in epoch: Int64) -> ReceivedPush {
            let mark = SealMark(peer: "d", epoch: epoch, seq: seq)
            let notification = Notification(
                id: NotificationID("n-\(seq)"), title: "T", createdAt: 1, receivedAt: 1)
            return ReceivedPush(desktop: "d", notification: notification, seq: seq, mark: mark, route: "lan")
        }
        var receiver = PushReceiver(committed: [("d", 4)])
        #expect(receiver.position(of: "d") == .init(seq: 4, epoch: nil, isOfEarlierStart: false), "before this start")
        #expect(receiver.position(of: "e") == .init(seq: 0, epoch: nil, isOfEarlierStart: false))
        _ = receiver.received(push(5, in: 70), now: 0)
        #expect(receiver.position(of: "d") == .init(seq: 4, epoch: nil, isOfEarlierStart: true))
        _ = receiver.committed([.stored])
        #expect(receiver.position(of: "d") == .init(seq: 5, epoch: 70, isOfEarlierStart: false))
        // The desktop has started again, and doesn't know how far the device is.
        _ = receiver.received(push(5, in: 80), now: 0)
        #expect(receiver.position(of: "d") == .init(seq: 5, epoch: 70, isOfEarlierStart: true))
        _ = receiver.received(push(6, in: 80), now: 0)
        _ = receiver.committed([.replayed])
        #expect(receiver.position(of: "d") == .init(seq: 5, epoch: 70, isOfEarlierStart: true))
        _ = receiver.received(push(6, in: 80), now: 0)
        _ = receiver.committed([.duplicate])
        #expect(receiver.position(of: "d") == .init(seq: 6, epoch: 80, isOfEarlierStart: false))
    }

    @Test("the host's calls whose pushes wait for the store end when their desktop is forgotten")
    func forgetsCalls() {
        func called(_ id: NotificationID, _ ticket: UInt64, from desktop: PeerID = "d") -> ReceivedPush {
            ReceivedPush(
                desktop: desktop, notification: Notification(id: id, title: "T", createdAt: 1, receivedAt: 1),
                hintNumber: 1, ticket: ticket)
        }
        var receiver = PushReceiver()
        _ = receiver.received(called("a", 1), now: 0)
        for push in [called("b", 2), called("c", 3, from: "e"), push(1)] { _ = receiver.received(push, now: 0) }
        let dropped = receiver.forget("d").compactMap { action -> UInt64? in
            guard case .drop(let push, .forgotten) = action else { return nil }
            return push.ticket
        }
        #expect(dropped == [2], "the first is under way, and the numbered one is nobody's call")
        #expect(words(receiver.committed([.stored])) == ["commit e0"])
        #expect(receiver.counters.admitted == 2)
    }

    @Test("a position of an earlier start is told once, then again only when it is time, or with something new")
    func recalledOnce() {
        func push(_ seq: Int64, in epoch: Int64) -> ReceivedPush {
            let notification = Notification(
                id: NotificationID("n-\(epoch)-\(seq)"), title: "T", createdAt: 1, receivedAt: 1)
            return ReceivedPush(
                desktop: "d", notification: notification, seq: seq, mark: SealMark(peer: "d", epoch: epoch, seq: seq))
        }
        var receiver = PushReceiver(committed: [("d", 15)])
        // The one after it can't be stored, and all others come after a gap.
        for seq in Int64(17)...80 {
            #expect(words(receiver.received(push(seq, in: 7), now: 10)).last == "ack d 15 -")
            #expect((receiver.report(to: "d", now: 10) != nil) == (seq == 17))
        }
        #expect(receiver.report(to: "d", now: 9 + PushReceiver.repeatTime) == nil)
        // It may have been lost.
        let again = receiver.report(to: "d", now: 10 + PushReceiver.repeatTime)
        #expect(again == .init(seq: 15, epoch: nil, isOfEarlierStart: true))
        _ = receiver.received(push(17, in: 8), now: 2_100)
        #expect(receiver.report(to: "d", now: 2_100) != nil, "the desktop has started again")
        #expect(receiver.report(to: "d", now: 2_100) == nil)
        _ = receiver.received(push(16, in: 8), now: 2_200)
        _ = receiver.committed([.stored])
        for _ in 0..<3 {
            #expect(receiver.report(to: "d", now: 2_200) == .init(seq: 16, epoch: 8, isOfEarlierStart: false))
        }
    }

    @Test("one commit takes 256; what waits is bounded")
    func bounds() {
        var receiver = PushReceiver()
        _ = receiver.received(push(1), now: 0)
        let last = Int64(PushReceiver.limit) + 1
        for seq in 2...last { #expect(receiver.received(push(seq), now: 0).isEmpty) }
        #expect(words(receiver.received(push(last + 1), now: 0)) == ["drop \(last + 1) overflow"])
        var sizes: [Int] = []
        var actions = receiver.committed([.stored])
        while case .commit(let items)? = actions.last {
            sizes.append(items.count)
            actions = receiver.committed(items.map { _ in .stored })
        }
        #expect(Set(sizes) == [256] && sizes.reduce(0, +) == PushReceiver.limit)
        #expect(receiver.committed(of: "d") == last)
        // It comes again, and is the next one.
        #expect(words(receiver.received(push(last + 1), now: 0)) == ["commit d\(last + 1)"])
    }

    @Test("a duplicate and a gap are answered from memory; one that is under way, by its commit")
    func answers() {
        var receiver = PushReceiver(committed: [("d", 7)])
        #expect(words(receiver.received(push(7), now: 0)) == ["drop 7 duplicate", "ack d 7 lan"])
        #expect(words(receiver.received(push(9), now: 0)) == ["drop 9 gap", "ack d 7 lan"])
        #expect(words(receiver.received(push(8), now: 0)) == ["commit d8"])
        #expect(words(receiver.received(push(8), now: 0)) == ["drop 8 duplicate"])
        #expect(words(receiver.received(push(11), now: 0)) == ["drop 11 gap"])
        #expect(words(receiver.committed([.stored])) == ["ack d 8 lan"])
        #expect(receiver.counters.admitted == 1 && receiver.counters.duplicates == 2)
    }

    @Test("a full inbox frees the number and all that were accepted after it; another desktop's stay")
    func full() {
        var receiver = PushReceiver()
        _ = receiver.received(push(1), now: 0)
        for seq: Int64 in 2...4 { _ = receiver.received(push(seq), now: 0) }
        _ = receiver.received(push(1, from: "e"), now: 0)
        #expect(words(receiver.committed([.stored])) == ["ack d 1 lan", "commit d2,d3,d4,e1"])
        _ = receiver.received(push(5), now: 0)
        _ = receiver.received(push(2, from: "e"), now: 0)
        let after = receiver.committed([.stored, .full, .behind, .stored])
        #expect(words(after) == ["ack d 2 lan", "ack e 1 lan", "commit e2"])
        #expect(receiver.counters.admitted == 4, "d1, d2, e1, e2")
        // The desktop goes back.
        #expect(words(receiver.received(push(4), now: 0)) == ["drop 4 gap", "ack d 2 lan"])
        #expect(receiver.received(push(3), now: 0).isEmpty)
        #expect(words(receiver.committed([.stored])) == ["ack e 2 lan", "commit d3"])
    }

    @Test("a store that fails frees all of its commit, and nobody is told that it was stored")
    func failure() {
        var receiver = PushReceiver()
        _ = receiver.received(push(1), now: 0)
        _ = receiver.received(push(2), now: 0)
        _ = receiver.received(push(1, from: "e"), now: 0)
        #expect(words(receiver.failed()) == ["commit e1"])
        #expect(receiver.counters.admitted == 1)
        _ = receiver.committed([.stored])
        #expect(words(receiver.received(push(1), now: 0)) == ["commit d1"])
    }

    @Test("a skip moves the number on, in its place among the pushes; an old one is acknowledged")
    func skips() {
        var receiver = PushReceiver()
        _ = receiver.received(push(1), now: 0)
        #expect(receiver.received(skip(through: 5)).isEmpty)
        #expect(receiver.received(push(6), now: 0).isEmpty)
        #expect(words(receiver.committed([.stored])) == ["ack d 1 lan", "commit ~5,d6"])
        #expect(words(receiver.received(skip(through: 1))) == ["ack d 1 lan"])
        #expect(words(receiver.received(skip(through: 5))) == [], "it is under way")
        #expect(words(receiver.committed([.stored, .stored])) == ["ack d 6 lan"])
        #expect(receiver.counters.admitted == 2)
    }

    @Test("a seal that the store knows is counted, and neither its number nor one after it counts")
    func replays() {
        var receiver = PushReceiver()
        _ = receiver.received(push(1), now: 0)
        _ = receiver.received(push(2), now: 0)
        #expect(words(receiver.committed([.replayed])) == [])
        #expect(receiver.counters.replayed == 1 && receiver.counters.admitted == 0)
        #expect(receiver.committed(of: "d") == 0)
    }

    @Test("a desktop that is forgotten during a commit hears nothing of it, also when it is paired anew meanwhile")
    func forgets() {
        var receiver = PushReceiver(committed: [("d", 40)])
        #expect(words(receiver.received(push(41), now: 0)) == ["commit d41"])
        _ = receiver.received(push(42), now: 0)
        #expect(receiver.forget("d").isEmpty)
        #expect(receiver.committed(of: "d") == 0)
        #expect(receiver.received(push(1), now: 0).isEmpty)
        #expect(words(receiver.committed([.stored])) == ["commit d1"])
        #expect(receiver.committed(of: "d") == 0)
        #expect(words(receiver.committed([.stored])) == ["ack d 1 lan"])
        #expect(receiver.counters.admitted == 2)
    }

    /// A desktop with its outbox, a store, and the receiver between them; the way between desktop and device loses, doubles
    /// and mixes up.
    @Test("whatever gets lost, fails or comes twice: each push is stored once, in order", arguments: 1...60)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var receiver = PushReceiver()
        let made: Int64 = 60
        var acknowledged: Int64 = 0
        var stored: [Int64] = []
        var last: Int64 = 0
        var underWay: [PushReceiver.Item]?
        var isAlways = false

        func perform(_ actions: [PushReceiver.Action]) {
            for action in actions {
                switch action {
                case .commit(let items):
                    #expect(underWay == nil, "one commit at a time")
                    #expect(!items.isEmpty && items.count <= PushReceiver.batchLimit)
                    underWay = items
                case .acknowledge(_, let through, _):
                    #expect(through == last, "what is said to be stored is stored")
                    if isAlways || Bool.random(using: &random) { acknowledged = max(acknowledged, through) }
                case .drop: break
                }
            }
        }
        func commit() {
            guard let items = underWay else { return }
            underWay = nil
            let luck = isAlways ? 1 : Int.random(in: 0..<5, using: &random)
            guard luck > 0 else { return perform(receiver.failed()) }
            let fullFrom = luck == 4 ? Int.random(in: 0..<items.count, using: &random) : items.count
            var verdicts: [PushReceiver.Verdict] = []
            for (index, item) in items.enumerated() {
                guard index < fullFrom else {
                    verdicts.append(index == fullFrom ? .full : .behind)
                    continue
                }
                switch item {
                case .push(let push):
                    #expect(push.seq == last + 1, "the next one")
                    last = push.seq ?? last
                    stored.append(last)
                case .skip(let skip):
                    #expect(skip.through > last)
                    last = skip.through
                }
                verdicts.append(.stored)
            }
            perform(receiver.committed(verdicts))
        }
        for step in 0..<4_000 {
            isAlways = step > 3_000
            if acknowledged == made { break }
            switch Int.random(in: 0..<4, using: &random) {
            case 0: commit()
            case 1:
                let seq = Int64.random(in: max(1, acknowledged - 2)...min(made, acknowledged + 8), using: &random)
                perform(receiver.received(push(seq), now: UInt64(step)))
            case _:
                let seq = min(made, acknowledged + 1)
                perform(receiver.received(push(seq), now: UInt64(step)))
            }
        }
        #expect(acknowledged == made)
        #expect(stored == Array(1...made))
        #expect(receiver.committed(of: "d") == made)
        #expect(receiver.counters.admitted == UInt64(made))
    }
}

extension PushReceiver.Item {
    fileprivate var word: String {
        switch self {
        case .push(let push): "\(push.desktop.text)\(push.seq ?? 0)"
        case .skip(let skip): "~\(skip.through)"
        }
    }
}
