@testable import Delivery
@testable import Notifications
import Testing
import Wire

private func entry(_ seq: Int64) -> Outbox.Entry {
    Outbox.Entry(seq: seq, event: NotificationEvent(id: NotificationID("n\(seq)"), title: "T", pushSeq: seq))
}

private func pushes(_ seqs: ClosedRange<Int64>) -> [OutboxStateMachine.Frame] { seqs.map { .push(entry($0)) } }

private func page(_ seqs: ClosedRange<Int64>, from: Int64? = nil, through: Int64? = nil) -> Outbox.Page {
    Outbox.Page(from: from ?? seqs.lowerBound, through: through ?? seqs.upperBound, entries: seqs.map(entry))
}

private func at(_ acknowledged: Int64, of last: Int64) -> Outbox.Position {
    Outbox.Position(last: last, acknowledged: acknowledged)
}

extension OutboxStateMachine {
    /// Connected, and heard of.
    fileprivate static func present(_ position: Outbox.Position) -> OutboxStateMachine {
        var machine = OutboxStateMachine(position)
        _ = machine.hello(position, now: 0)
        _ = machine.connected(now: 0)
        _ = machine.heard(now: 0)
        return machine
    }

    /// The device is there, as far as the store notes it; what the store is to do is left out.
    fileprivate mutating func acknowledged(_ position: Outbox.Position, now: UInt64) -> [Action] {
        let actions = acknowledged(through: position.acknowledged, now: now)
        guard actions == [.renumber(after: position.acknowledged)] else { return actions.filter(\.isSending) }
        return renumbered(position, now: now)
    }

    fileprivate mutating func hello(_ position: Outbox.Position, now: UInt64) -> [Action] {
        let actions = hello(lastPushSeq: position.acknowledged, now: now)
        guard actions == [.renumber(after: position.acknowledged)] else { return actions.filter(\.isSending) }
        return renumbered(position, now: now)
    }

    /// The round of the page that was asked for last.
    fileprivate mutating func answer(_ actions: [Action], _ entries: ClosedRange<Int64>, now: UInt64) -> [Action] {
        guard case .read(let from, let through, let round) = actions.last else { return [] }
        let here = max(from, entries.lowerBound)...max(from, min(through, entries.upperBound, from + 15))
        return read(page(here, from: from), round: round, now: now)
    }
}

extension OutboxStateMachine.Action {
    fileprivate var isSending: Bool {
        switch self {
        case .read, .send: true
        case .settle, .renumber, .recount: false
        }
    }
}

@Suite struct OutboxStateMachineTests {
    @Test("a push for a device that is there leaves at once, without a look into the store")
    func atOnce() {
        var machine = OutboxStateMachine.present(at(4, of: 4))
        #expect(machine.enqueued(entry(5), now: 1) == [.send(pushes(5...5))])
        #expect(machine.enqueued(entry(6), now: 1) == [.send(pushes(6...6))])
        #expect(machine.acknowledged(at(6, of: 6), now: 2) == [])
        #expect(machine.deadline == nil)
    }

    @Test("no more than 64 are under way; an acknowledgement makes room")
    func window() {
        var machine = OutboxStateMachine.present(at(0, of: 0))
        for seq in Int64(1)...64 { #expect(machine.enqueued(entry(seq), now: 1) == [.send(pushes(seq...seq))]) }
        #expect(machine.enqueued(entry(65), now: 1) == [])
        let actions = machine.acknowledged(at(1, of: 65), now: 2)
        #expect(machine.answer(actions, 65...65, now: 3) == [.send(pushes(65...65))])
    }

    @Test("a device that nobody has heard of gets one frame at a time, until it answers")
    func probe() {
        var machine = OutboxStateMachine(at(0, of: 3))
        let asked = machine.connected(now: 0)
        #expect(machine.answer(asked, 1...3, now: 0) == [.send(pushes(1...1))])
        #expect(machine.enqueued(entry(4), now: 1) == [])
        let more = machine.acknowledged(at(1, of: 4), now: 2)
        #expect(machine.answer(more, 2...4, now: 2) == [.send(pushes(2...4))])
    }

    @Test("what is not acknowledged in time is sent again, later and later, up to a minute")
    func backoff() {
        var machine = OutboxStateMachine.present(at(0, of: 0))
        _ = machine.enqueued(entry(1), now: 0)
        var now: UInt64 = 0
        var waits: [UInt64] = []
        for _ in 0..<8 {
            guard let deadline = machine.deadline else { break }
            waits.append(deadline - now)
            #expect(machine.deadlineReached(now: deadline - 1) == [])
            now = deadline
            let asked = machine.deadlineReached(now: now)
            #expect(machine.answer(asked, 1...1, now: now) == [.send(pushes(1...1))])
        }
        #expect(waits == [3_000, 6_000, 12_000, 24_000, 48_000, 60_000, 60_000, 60_000])
    }

    @Test("a hello starts the resend from the push after it")
    func hello() {
        var machine = OutboxStateMachine.present(at(0, of: 0))
        for seq in Int64(1)...5 { _ = machine.enqueued(entry(seq), now: 0) }
        let asked = machine.hello(at(2, of: 5), now: 1)
        #expect(machine.answer(asked, 3...5, now: 1) == [.send(pushes(3...5))])
    }

    @Test("an acknowledgement that says the same twice has what follows sent again, once")
    func duplicate() {
        var machine = OutboxStateMachine.present(at(0, of: 0))
        for seq in Int64(1)...3 { _ = machine.enqueued(entry(seq), now: 0) }
        let asked = machine.acknowledged(at(0, of: 3), now: 1)
        #expect(machine.answer(asked, 1...3, now: 1) == [.send(pushes(1...3))])
        #expect(machine.acknowledged(at(0, of: 3), now: 2) == [])
        #expect(machine.acknowledged(at(3, of: 3), now: 3) == [])
    }

    @Test("to an absent device nothing is sent, until it is heard of")
    func absent() {
        var machine = OutboxStateMachine.present(at(0, of: 0))
        _ = machine.enqueued(entry(1), now: 0)
        machine.wasCalledAbsent()
        #expect(machine.deadline == nil)
        #expect(machine.enqueued(entry(2), now: 1) == [])
        let asked = machine.heard(now: 2)
        #expect(machine.answer(asked, 1...2, now: 2) == [.send(pushes(1...2))])
    }

    @Test("a gap is skipped only when everything before it is acknowledged")
    func skip() {
        var machine = OutboxStateMachine.present(at(0, of: 0))
        machine.disconnected()
        for seq in Int64(1)...6 { _ = machine.enqueued(entry(seq), now: 0) }
        _ = machine.connected(now: 1)
        let asked = machine.hello(at(0, of: 6), now: 1)
        guard case .read(1, 6, let round)? = asked.first else {
            Issue.record("nothing was asked for: \(asked)")
            return
        }
        // 3 and 4 were replaced.
        let gapped = Outbox.Page(from: 1, through: 6, entries: [1, 2, 5, 6].map(entry))
        let first = machine.read(gapped, round: round, now: 2)
        #expect(first.first == .send(pushes(1...2)))
        guard case .read(3, 6, let next)? = machine.acknowledged(at(2, of: 6), now: 3).first ?? first.last else {
            Issue.record("nothing more was asked for")
            return
        }
        let rest = machine.read(
            Outbox.Page(from: 3, through: 6, entries: [5, 6].map(entry)), round: next, now: 4)
        #expect(rest == [.send([.skip(through: 4)] + pushes(5...6))])
        #expect(machine.acknowledged(at(6, of: 6), now: 5) == [])
    }

    @Test("a gap at the end is skipped too: nothing stays open")
    func lastGap() {
        var machine = OutboxStateMachine.present(at(0, of: 0))
        machine.disconnected()
        for seq in Int64(1)...300 { _ = machine.enqueued(entry(seq), now: 0) }
        _ = machine.connected(now: 1)
        guard case .read(1, 300, let round)? = machine.hello(at(0, of: 300), now: 1).first else {
            Issue.record("nothing was asked for")
            return
        }
        let empty = Outbox.Page(from: 1, through: 300, entries: [])
        #expect(machine.read(empty, round: round, now: 1) == [.send([.skip(through: 300)])])
        #expect(machine.acknowledged(at(300, of: 300), now: 2) == [])
        #expect(machine.deadline == nil)
    }

    @Test("a device that is further than we ever were: what waits is sent under its new numbers")
    func shifted() {
        var machine = OutboxStateMachine.present(at(0, of: 0))
        for seq in Int64(1)...2 { _ = machine.enqueued(entry(seq), now: 0) }
        var position = at(500, of: 502)
        position.shift = 500
        let asked = machine.acknowledged(position, now: 1)
        #expect(machine.answer(asked, 501...502, now: 1) == [.send(pushes(501...502))])
    }

    @Test("a page that was asked for before a hello is not used after it")
    func staleP() {
        var machine = OutboxStateMachine(at(0, of: 3))
        guard case .read(_, _, let round)? = machine.connected(now: 0).first else { return }
        _ = machine.hello(at(2, of: 3), now: 0)
        #expect(machine.read(page(1...3), round: round, now: 1) == [])
        #expect(machine.sent == 2)
    }

    @Test("what a connection does not take is sent later")
    func unsent() throws {
        var machine = OutboxStateMachine.present(at(0, of: 0))
        _ = machine.enqueued(entry(1), now: 0)
        machine.unsent(from: 1, now: 0)
        #expect(machine.sent == 0)
        let deadline = try #require(machine.deadline)
        let asked = machine.deadlineReached(now: deadline)
        #expect(machine.answer(asked, 1...1, now: deadline) == [.send(pushes(1...1))])
    }
}

@Suite struct OutboxAcknowledgementTests {
    private func three() -> OutboxStateMachine {
        var machine = OutboxStateMachine.present(at(0, of: 0))
        for seq in Int64(1)...3 { _ = machine.enqueued(entry(seq), now: 0) }
        return machine
    }

    @Test("an acknowledgement moves on at once, and the store is told once")
    func progress() {
        var machine = three()
        #expect(machine.acknowledged(through: 2, now: 1) == [.settle(through: 2)])
        #expect(machine.acknowledged == 2)
        #expect(machine.acknowledged(through: 3, now: 2) == [.settle(through: 3)])
        #expect(machine.acknowledged(through: 3, now: 3) == [])
        #expect(machine.deadline == nil)
    }

    @Test("one that says less than was known starts the resend from there, and the store learns it too")
    func old() {
        var machine = three()
        _ = machine.acknowledged(through: 3, now: 1)
        let asked = machine.acknowledged(through: 1, now: 2)
        #expect(asked.first == .settle(through: 1))
        guard case .read(2, 3, let round)? = asked.last else {
            Issue.record("nothing was asked for: \(asked)")
            return
        }
        // The store has let both go: they are skipped, and the device says again how far it is.
        let empty = Outbox.Page(from: 2, through: 3, entries: [])
        #expect(machine.read(empty, round: round, now: 3) == [.send([.skip(through: 3)])])
        #expect(machine.acknowledged(through: 3, now: 4) == [.settle(through: 3)])
        #expect(machine.deadline == nil)
    }

    @Test("one that is beyond what was sent counts: what it names is not sent any more")
    func beyondSent() {
        var machine = OutboxStateMachine(at(0, of: 5))
        let asked = machine.connected(now: 0)
        #expect(machine.acknowledged(through: 4, now: 1).first == .settle(through: 4))
        #expect(machine.sent == 4)
        guard case .read(_, _, let round)? = asked.last else {
            Issue.record("nothing was asked for: \(asked)")
            return
        }
        #expect(machine.read(page(1...5), round: round, now: 2) == [])
    }

    @Test("one beyond everything has the store count on; meanwhile nothing is sent, and it is asked once")
    func beyondAll() {
        var machine = three()
        #expect(machine.acknowledged(through: 500, now: 1) == [.renumber(after: 500)])
        #expect(machine.acknowledged(through: 500, now: 2) == [])
        #expect(machine.hello(lastPushSeq: 500, now: 3) == [])
        #expect(machine.enqueued(entry(4), now: 4) == [])
        #expect(machine.acknowledged(through: 2, now: 5) == [])
        var position = at(500, of: 504)
        position.shift = 500
        let asked = machine.renumbered(position, now: 6)
        #expect(machine.answer(asked, 501...504, now: 6) == [.send(pushes(501...504))])
        #expect(machine.acknowledged(through: 504, now: 7) == [.settle(through: 504)])
    }

    @Test("when the store cannot count on, what waits is tried again later")
    func failed() throws {
        var machine = three()
        _ = machine.acknowledged(through: 500, now: 1)
        machine.renumberFailed(now: 2)
        let deadline = try #require(machine.deadline)
        guard case .read(1, 3, _)? = machine.deadlineReached(now: deadline).first else {
            Issue.record("nothing was asked for")
            return
        }
        #expect(machine.acknowledged(through: 500, now: deadline) == [.renumber(after: 500)])
    }

    @Test("what is acknowledged while the store is busy goes to it in one piece, and marks in their order")
    func batch() {
        var batch = AcknowledgementBatch<Int>()
        // What the devices' sessions hold.
        var (a, b, c) = (UnsavedAcknowledgement(), UnsavedAcknowledgement(), UnsavedAcknowledgement())
        batch.add(1)
        let first = batch.due()
        #expect(first?.marks == [1])
        #expect(batch.settle(through: 5, by: "a", in: &a) == nil)
        batch.add(2)
        #expect(batch.due() == nil)
        #expect(batch.settle(through: 6, by: "a", in: &a) == nil)
        #expect(batch.settle(through: 1, by: "b", in: &b) == nil)
        #expect(batch.settle(through: 2, by: "c", in: &c) == nil)
        // The device "c" is unpaired, and its session gone.
        c = UnsavedAcknowledgement()
        let second = batch.finished()
        var settled: [PeerID: Int64] = [:]
        for device in second?.devices ?? [] {
            switch device {
            case "a": settled[device] = a.take()
            case "b": settled[device] = b.take()
            default: settled[device] = c.take()
            }
        }
        #expect(settled == ["a": 6, "b": 1] && second?.marks == [2])
        #expect(batch.finished() == nil)
        batch.add(3)
        #expect(batch.due()?.marks == [3])
    }
}

@Suite struct PlainOutboxStateMachineTests {
    private func ready() -> PlainOutboxStateMachine {
        var machine = PlainOutboxStateMachine(at(0, of: 0))
        _ = machine.connected(now: 0)
        return machine
    }

    @Test("what was written and not called back for 2 s is dropped")
    func written() {
        var machine = ready()
        #expect(machine.enqueued(entry(1), now: 10) == [.send([entry(1)])])
        #expect(machine.deadline == 2_010)
        #expect(machine.deadlineReached(now: 2_009) == [])
        #expect(machine.deadlineReached(now: 2_010) == [.drop(through: 1)])
        #expect(machine.deadline == nil)
    }

    @Test("what is called back waits until the phone is heard of, and goes in order")
    func calledBack() {
        var machine = ready()
        _ = machine.enqueued(entry(1), now: 0)
        machine.wasCalledAbsent()
        #expect(machine.deadline == nil)
        guard case .read(1, 1, let round)? = machine.heard(now: 9_000).first else {
            Issue.record("nothing was asked for")
            return
        }
        #expect(machine.read(page(1...1), round: round, now: 9_000) == [.send([entry(1)])])
        #expect(machine.deadlineReached(now: 11_000) == [.drop(through: 1)])
    }

    @Test("a new push for an absent phone asks once more, with the oldest that waits")
    func asksAgain() {
        var machine = ready()
        _ = machine.enqueued(entry(1), now: 0)
        machine.wasCalledAbsent()
        guard case .read(1, 2, let round)? = machine.enqueued(entry(2), now: 5).first else {
            Issue.record("nothing was asked for")
            return
        }
        #expect(machine.read(page(1...2), round: round, now: 5) == [.send([entry(1)])])
        // It is there: the others follow.
        let settled = machine.deadlineReached(now: 2_005)
        guard case .drop(1)? = settled.first, case .read(2, 2, let next)? = settled.last else {
            Issue.record("not \(settled)")
            return
        }
        #expect(machine.read(page(2...2), round: next, now: 2_005) == [.send([entry(2)])])
    }

    @Test("what was written moments before the connection ended is written again")
    func connectionEnds() {
        var machine = ready()
        _ = machine.enqueued(entry(1), now: 0)
        machine.disconnected()
        #expect(machine.deadline == nil)
        guard case .read(1, 1, _)? = machine.connected(now: 500).first else {
            Issue.record("nothing was asked for")
            return
        }
    }

    @Test("gaps mean nothing to a phone")
    func gaps() {
        var machine = PlainOutboxStateMachine(at(0, of: 5))
        guard case .read(1, 5, let round)? = machine.connected(now: 0).first else { return }
        let actions = machine.read(Outbox.Page(from: 1, through: 5, entries: []), round: round, now: 0)
        #expect(actions == [])
        #expect(machine.sent == 5)
        #expect(machine.enqueued(entry(6), now: 1) == [.send([entry(6)])])
    }

    @Test("what a device has of an earlier start settles nothing: what waits is counted on from there")
    func recalled() {
        var machine = OutboxStateMachine.present(at(3, of: 9))
        #expect(machine.recalled(lastPushSeq: 7, now: 0) == [.recount(after: 7)])
        #expect(machine.acknowledged == 3, "nothing is delivered by it")
        #expect(machine.recalled(lastPushSeq: 8, now: 0) == [], "one at a time")
        var position = at(7, of: 13)
        position.shift = 4
        let actions = machine.renumbered(position, now: 0)
        #expect(actions.contains { if case .read(from: 8, through: 13, _) = $0 { true } else { false } })
        // No further than we know: as any hello.
        var other = OutboxStateMachine.present(at(3, of: 9))
        var same = other
        #expect(other.recalled(lastPushSeq: 3, now: 0) == same.hello(lastPushSeq: 3, now: 0))
    }

    @Test(
        "until the device has acknowledged something of this start, one push is under way, whatever else was heard",
        arguments: [true, false])
    func unplaced(isHelloFirst: Bool) {
        // The backup knows 9; the device has 15 from an earlier start. Eight pushes wait.
        var machine = OutboxStateMachine(at(9, of: 17))
        var asked = machine.connected(now: 0)
        if isHelloFirst {
            #expect(machine.recalled(lastPushSeq: 15, now: 1) == [.recount(after: 15)])
        } else {
            _ = machine.heard(now: 1)
            // One that the device has stored would otherwise be the seventh of them.
            #expect(machine.answer(asked, 10...17, now: 1).first == .send(pushes(10...10)))
            #expect(machine.recalled(lastPushSeq: 15, now: 2) == [.recount(after: 15)])
        }
        var position = at(15, of: 23)
        position.shift = 6
        asked = machine.renumbered(position, now: 3)
        // The hello may have been an old one: only an acknowledgement shows that both mean the same numbers.
        #expect(machine.answer(asked, 16...23, now: 3).first == .send(pushes(16...16)))
        asked = machine.acknowledged(through: 16, now: 4)
        #expect(asked.first == .settle(through: 16))
        #expect(machine.answer(asked, 17...23, now: 4).first == .send(pushes(17...23)))
    }

    @Test("an old hello that names the desktop's own position opens no window")
    func replayedHello() {
        var machine = OutboxStateMachine(at(9, of: 17))
        _ = machine.connected(now: 0)
        let asked = machine.recalled(lastPushSeq: 9, now: 1)
        #expect(machine.answer(asked, 10...17, now: 1).first == .send(pushes(10...10)))
        #expect(machine.recalled(lastPushSeq: 15, now: 2) == [.recount(after: 15)])
    }

    @Test("a position of an earlier start that is repeated without progress causes one resend")
    func recalledAgain() {
        var machine = OutboxStateMachine.present(at(9, of: 17))
        let asked = machine.recalled(lastPushSeq: 9, now: 1)
        #expect(machine.answer(asked, 10...17, now: 1).first == .send(pushes(10...17)))
        for now in UInt64(2)...20 { #expect(machine.recalled(lastPushSeq: 9, now: now) == []) }
        #expect(machine.deadline == 1 + OutboxStateMachine.firstTimeout)
        _ = machine.acknowledged(through: 10, now: 30)
        let again = machine.recalled(lastPushSeq: 10, now: 31)
        #expect(machine.answer(again, 11...17, now: 31).first == .send(pushes(11...17)))
        #expect(machine.recalled(lastPushSeq: 10, now: 32) == [])
    }

    @Test("a lower position of an earlier start settles nothing: the desktop goes back to it")
    func recalledLower() {
        var machine = OutboxStateMachine.present(at(9, of: 17))
        let asked = machine.recalled(lastPushSeq: 4, now: 1)
        #expect(asked.filter(\.isSending) == asked)
        #expect(machine.acknowledged == 4 && machine.last == 17)
        guard case .read(from: 5, through: 17, _)? = asked.last else {
            Issue.record("nothing is read from there")
            return
        }
    }
}
