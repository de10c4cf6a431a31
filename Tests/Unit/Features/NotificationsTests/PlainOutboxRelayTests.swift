import Notifications
import TestSupport
import Testing
import Wire

@testable import Delivery

private func entry(_ seq: Int64) -> Outbox.Entry {
    Outbox.Entry(seq: seq, event: NotificationEvent(id: NotificationID("n\(seq)"), title: "T", pushSeq: seq))
}

private let relay: RouteID = "wss://relay.test"

extension PlainOutboxStateMachine {
    /// What it wants from the store, given at once; the numbers that are sent then.
    fileprivate mutating func answer(_ actions: [Action], now: UInt64) -> [Int64] {
        var sent: [Int64] = []
        for action in actions {
            switch action {
            case .read(let from, let through, let round):
                let page = Outbox.Page(from: from, through: through, entries: (from...through).map(entry))
                sent += answer(read(page, round: round, now: now), now: now)
            case .send(let entries): sent += entries.map(\.seq)
            case .drop: break
            }
        }
        return sent
    }

    fileprivate mutating func add(_ seq: Int64, now: UInt64) -> [Int64] {
        answer(enqueued(entry(seq), now: now), now: now)
    }
}

/// Pushes to deployed phones over relays that report absent peers, and over one that doesn't.
@Suite struct PlainOutboxRelayTests {
    private func ready(_ reporting: AbsenceReporting) -> PlainOutboxStateMachine {
        var machine = PlainOutboxStateMachine(Outbox.Position(last: 0, acknowledged: 0))
        _ = machine.routed(over: relay, reporting, now: 0)
        _ = machine.connected(now: 0)
        return machine
    }

    // MARK: A silent relay

    @Test("nothing is sent until it is known whether the relay reports absent peers")
    func unknown() {
        var machine = ready(.unknown)
        #expect(machine.add(1, now: 10) == [])
        var silent = machine
        #expect(machine.answer(machine.routed(over: relay, .reports, now: 20), now: 20) == [1])
        #expect(silent.answer(silent.routed(over: relay, .silent, now: 2_000), now: 2_000) == [1])
    }

    @Test("over a silent relay a phone that was not heard lately gets everything at once, and again when it is heard")
    func absentThere() {
        var machine = ready(.silent)
        for seq in Int64(1)...3 { #expect(machine.add(seq, now: 10) == [seq]) }
        // Nobody knows whether they have come: they stay, and no timer runs.
        #expect(machine.presence == .absent && machine.deadline == nil)
        #expect(machine.presumed == 0 && machine.dropped == 0)
        #expect(machine.answer(machine.heard(over: relay, now: 5_000), now: 5_000) == [1, 2, 3])
        #expect(machine.deadlineReached(now: 7_000) == [.drop(through: 3)])
        // Present for 45 s; after that, nobody knows again.
        #expect(machine.add(4, now: 49_999) == [4])
        #expect(machine.deadline == 50_000)
        #expect(machine.add(5, now: 50_000) == [5])
        #expect(machine.answer(machine.deadlineReached(now: 50_000), now: 50_000) == [] && machine.deadline == nil)
        // A sign of life after minutes: both once more.
        #expect(machine.answer(machine.heard(over: relay, now: 200_000), now: 200_000) == [4, 5])
        #expect(machine.deadlineReached(now: 202_000) == [.drop(through: 5)])
    }

    @Test("at most 40 are on their way to a phone that may be away; the relay stores 50. Then all follow, in order")
    func outstanding() {
        var machine = ready(.silent)
        for seq in Int64(1)...40 { #expect(machine.add(seq, now: 10) == [seq]) }
        for seq in Int64(41)...100 { #expect(machine.add(seq, now: 10) == []) }
        #expect(machine.deadline == nil)
        #expect(machine.answer(machine.heard(over: relay, now: 5_000), now: 5_000) == Array(1...100))
        #expect(machine.deadlineReached(now: 7_000) == [.drop(through: 100)])
        // Also while it was heard some seconds ago: the next frame confirms them.
        for seq in Int64(101)...140 { #expect(machine.add(seq, now: 15_000) == [seq]) }
        #expect(machine.add(141, now: 15_000) == [])
        #expect(machine.answer(machine.heard(over: relay, now: 35_000), now: 35_000) == [141])
        #expect(machine.deadlineReached(now: 37_000) == [.drop(through: 141)])
    }

    @Test("a pairing is a sign of life: what follows within seconds counts as delivered")
    func paired() {
        var machine = PlainOutboxStateMachine(Outbox.Position(last: 0, acknowledged: 0))
        _ = machine.routed(over: relay, .silent, now: 10_000)
        _ = machine.connected(now: 10_000)
        _ = machine.heard(over: relay, now: 9_000)
        #expect(machine.add(1, now: 12_000) == [1])
        #expect(machine.presumed == 1 && machine.deadlineReached(now: 14_000) == [.drop(through: 1)])
    }

    @Test("what was sent while the phone was quiet counts as delivered when it is heard again, else it is sent again")
    func quiet() {
        var machine = ready(.silent)
        _ = machine.heard(over: relay, now: 1_000)
        #expect(machine.add(1, now: 11_000) == [1])
        #expect(machine.presumed == 0 && machine.deadline == 46_000)
        // Its next heartbeat: it was there.
        _ = machine.heard(over: relay, now: 31_000)
        #expect(machine.presumed == 1)
        #expect(machine.deadlineReached(now: 33_000) == [.drop(through: 1)])
        #expect(machine.add(2, now: 40_000) == [2])
        #expect(machine.deadline == 76_000)
        #expect(machine.deadlineReached(now: 76_000) == [], "nobody knows whether it has come")
        #expect(machine.presence == .absent && machine.dropped == 1 && machine.presumed == 1)
        // Once more, and no more than that: the phone was heard just now.
        #expect(machine.answer(machine.heard(over: relay, now: 90_000), now: 90_000) == [2])
        #expect(machine.deadlineReached(now: 92_000) == [.drop(through: 2)])
    }

    @Test("what a silent relay had stored doesn't count as heard, nor what was heard over another relay")
    func stored() {
        var machine = ready(.unknown)
        _ = machine.heard(over: relay, now: 5)
        _ = machine.routed(over: relay, .silent, now: 2_000)
        #expect(machine.add(1, now: 2_001) == [1] && machine.presumed == 0)
        _ = machine.heard(over: "wss://other.test", now: 2_002)
        #expect(machine.add(2, now: 2_003) == [2] && machine.presumed == 0)
        #expect(machine.answer(machine.heard(over: relay, now: 2_004), now: 2_004) == [1, 2])
        // Connected anew.
        _ = machine.routed(over: relay, .unknown, now: 2_100)
        _ = machine.connected(now: 2_100)
        _ = machine.answer(machine.routed(over: relay, .silent, now: 4_100), now: 4_100)
        #expect(machine.add(3, now: 4_101) == [3] && machine.presumed == 0)
    }

    @Test("a phone that changes to a silent relay is heard there before its route changes")
    func changesRelay() {
        var machine = ready(.reports)
        _ = machine.heard(over: "wss://silent.test", now: 100)
        _ = machine.routed(over: "wss://silent.test", .silent, now: 100)
        #expect(machine.answer(machine.connected(now: 100), now: 100) == [])
        #expect(machine.add(1, now: 200) == [1])
    }

    @Test("a relay that is late with its first report is believed from then on")
    func late() {
        var machine = ready(.silent)
        _ = machine.heard(over: relay, now: 0)
        #expect(machine.add(1, now: 20_000) == [1])
        _ = machine.routed(over: relay, .reports, now: 21_000)
        #expect(machine.deadlineReached(now: 23_000) == [.drop(through: 1)])
        #expect(machine.add(2, now: 90_000) == [2], "whether or not it was heard")
    }

    @Test("stopped in order, what nobody knows of stays")
    func ended() {
        var machine = ready(.silent)
        _ = machine.heard(over: relay, now: 0)
        _ = machine.add(1, now: 1_000)
        _ = machine.add(2, now: 20_000)
        #expect(machine.ended() == [.drop(through: 1)])
    }

    // MARK: A relay that reports absent peers

    @Test("a phone that leaves its relay has what was not called back: it is not sent again")
    func leaves() {
        var machine = ready(.reports)
        #expect(machine.add(1, now: 0) == [1])
        machine.wentOffline()
        #expect(machine.presence == .absent && machine.deadline == 2_000)
        #expect(machine.answer(machine.heard(now: 500), now: 500) == [])
        #expect(machine.deadlineReached(now: 2_000) == [.drop(through: 1)])
        #expect(machine.add(2, now: 2_100) == [2])
    }

    @Test("what the relay calls back when a phone has left is sent again when it is there")
    func leavesBefore() {
        var machine = ready(.reports)
        _ = machine.add(1, now: 0)
        machine.wentOffline()
        machine.wasCalledAbsent()
        #expect(machine.deadline == nil)
        #expect(machine.answer(machine.heard(now: 500), now: 500) == [1])
    }

    @Test("of several, as many as were called back are sent again, the newest; no other is", arguments: 1...4)
    func several(returned: Int) {
        var machine = ready(.reports)
        for seq in Int64(1)...5 { #expect(machine.add(seq, now: UInt64(seq) * 10) == [seq]) }
        machine.wentOffline()
        for _ in 0..<returned { machine.wasCalledAbsent() }
        #expect(machine.add(6, now: 100) == [], "the rest may still be called back")
        // It is back at once: it waits until the relay has had its time.
        #expect(machine.answer(machine.heard(now: 1_000), now: 1_000) == [])
        #expect(machine.deadline == 2_050)
        let actions = machine.deadlineReached(now: 2_050)
        let delivered = Int64(5 - returned)
        #expect(actions.first == .drop(through: delivered))
        #expect(machine.answer(actions, now: 2_050) == Array(delivered + 1...6))
    }

    @Test("a phone that is back within 2 s, or reached over another relay, gets again only what is called back")
    func rerouted() {
        var machine = ready(.reports)
        for seq in Int64(1)...3 { _ = machine.add(seq, now: 0) }
        var other = machine
        #expect(machine.answer(machine.connected(isCarrierUp: true, now: 500), now: 500) == [])
        #expect(machine.add(4, now: 600) == [], "what comes next waits for the verdicts")
        let settled = machine.deadlineReached(now: 2_000)
        #expect(settled.first == .drop(through: 3))
        #expect(machine.answer(settled, now: 2_000) == [4])
        // The relay before has called one back.
        _ = other.wasReturned(now: 400)
        _ = other.connected(isCarrierUp: true, now: 400)
        let rest = other.deadlineReached(now: 2_000)
        #expect(rest.first == .drop(through: 2))
        #expect(other.answer(rest, now: 2_000) == [3])
        // It is gone: nobody would say.
        _ = other.add(4, now: 2_100)
        #expect(other.answer(other.connected(now: 2_200), now: 2_200) == [3, 4])
    }

    @Test("everything is sent again if everything was called back, or more than that")
    func everything() {
        var machine = ready(.reports)
        for seq in Int64(1)...3 { _ = machine.add(seq, now: 0) }
        for _ in 0..<5 { machine.wasCalledAbsent() }
        #expect(machine.deadline == nil)
        #expect(machine.answer(machine.heard(now: 10), now: 10) == [1, 2, 3])
    }
}
