import Delivery
import TestSupport
import Testing
import Wire

@testable import Desktop

/// Who received a push, and when its caller hears so.
@Suite
struct PushRunsTests {
    private let a: PeerID = "a"
    private let b: PeerID = "b"

    @Test("a run is over when each device has the push or is away, and at once without any")
    func over() {
        var runs = PushRuns()
        #expect(runs.begin(1, open: [], now: 0) == PushRuns.Finished(ticket: 1, delivered: []))
        #expect(runs.begin(2, open: [a, b], now: 0) == nil)
        #expect(runs.delivered(2, to: a) == nil)
        #expect(runs.missed(2, by: b) == PushRuns.Finished(ticket: 2, delivered: [a]))
        #expect(runs.delivered(2, to: b) == nil)
        #expect(runs.nextDeadline() == nil)
    }

    @Test("after 2 s those who have not answered are open, the oldest run first")
    func overdue() {
        var runs = PushRuns()
        _ = runs.begin(1, open: [a, b], now: 10)
        _ = runs.begin(2, open: [a], now: 20)
        _ = runs.delivered(1, to: b)
        #expect(runs.nextDeadline() == 2_010)
        #expect(runs.overdue(now: 2_009).isEmpty)
        #expect(
            runs.overdue(now: 2_010)
                == [PushRuns.Overdue(finished: PushRuns.Finished(ticket: 1, delivered: [b]), open: [a])])
        #expect(runs.nextDeadline() == 2_020)
        #expect(runs.end().map(\.finished.ticket) == [2])
        #expect(runs.end().isEmpty)
    }

    @Test("each run ends exactly once, with those who had it", arguments: 1...50)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let peers: [PeerID] = ["a", "b", "c", "d"]
        var runs = PushRuns()
        var open: [PushTicket: (open: Set<PeerID>, delivered: Set<PeerID>, deadline: UInt64)] = [:]
        var queues: [PeerID: PendingDeliveries] = [:]
        var now: UInt64 = 0
        var seq: Int64 = 0
        for ticket in 1...200 as ClosedRange<PushTicket> {
            now += UInt64.random(in: 0...100, using: &random)
            seq += 1
            let recipients = Set(peers.filter { _ in Bool.random(using: &random) })
            let ended = runs.begin(ticket, open: recipients, now: now)
            #expect((ended != nil) == recipients.isEmpty)
            if !recipients.isEmpty { open[ticket] = (recipients, [], now + 2_000) }
            for peer in recipients { queues[peer, default: PendingDeliveries()].append(ticket, numbered: seq) }
            guard let peer = peers.randomElement(using: &random) else { continue }
            let isDelivered = Bool.random(using: &random)
            let through = isDelivered ? Int64.random(in: 0...seq, using: &random) : .max
            for settled in queues[peer]?.settle(through: through) ?? [] {
                open[settled]?.open.remove(peer)
                if isDelivered { open[settled]?.delivered.insert(peer) }
                let finished = isDelivered ? runs.delivered(settled, to: peer) : runs.missed(settled, by: peer)
                guard let known = open[settled] else {
                    #expect(finished == nil)
                    continue
                }
                #expect((finished != nil) == known.open.isEmpty)
                guard let finished else { continue }
                #expect(finished.delivered == known.delivered)
                open[settled] = nil
            }
            for overdue in runs.overdue(now: now) {
                let known = open.removeValue(forKey: overdue.finished.ticket)
                #expect(known?.open == overdue.open && known?.delivered == overdue.finished.delivered)
                #expect(known.map { $0.deadline <= now } == true)
                for peer in overdue.open { #expect(queues[peer]?.remove(overdue.finished.ticket) != nil) }
            }
            #expect(runs.nextDeadline() == open.values.map(\.deadline).min())
        }
        #expect(Set(runs.end().map(\.finished.ticket)) == Set(open.keys))
    }

    @Test("what waits for a device keeps its order over a change of its numbers")
    func shifted() {
        var pending = PendingDeliveries()
        for seq in 1...4 as ClosedRange<Int64> { pending.append(PushTicket(seq), numbered: seq) }
        #expect(pending.settle(through: 1) == [1])
        pending.shift(by: 40)
        #expect(pending.settle(through: 41) == [])
        #expect(pending.remove(3) == 43)
        #expect(pending.remove(3) == nil)
        #expect(pending.settle(through: 44) == [2, 4])
        #expect(pending.takeAll() == [])
    }

    @Test("pushes in memory have no gap: what is missing, large, expired or replaced is the store's to say")
    func recent() {
        func entry(_ seq: Int64, _ body: String = "", expiresAt: EpochMilliseconds? = nil) -> Outbox.Entry {
            var event = NotificationEvent(id: NotificationID("\(seq)"), title: "T", body: body)
            event.richer.expiresAt = expiresAt
            return Outbox.Entry(seq: seq, event: event)
        }
        var recent = RecentPushes()
        #expect(recent.page(from: 1, now: ExpiryMoment(0)) == nil)
        for seq in 3...5 as ClosedRange<Int64> { recent.append(entry(seq)) }
        #expect(recent.page(from: 2, now: ExpiryMoment(0)) == nil)
        #expect(recent.page(from: 4, now: ExpiryMoment(0))?.entries.map(\.seq) == [4, 5])
        #expect(recent.page(from: 6, now: ExpiryMoment(0)) == nil)
        recent.append(entry(7))
        #expect(recent.page(from: 5, now: ExpiryMoment(0)) == nil)
        recent.append(entry(8, expiresAt: 100))
        #expect(recent.page(from: 7, now: ExpiryMoment(99))?.through == 8)
        #expect(recent.page(from: 7, now: ExpiryMoment(100))?.through == 7)
        #expect(recent.page(from: 8, now: ExpiryMoment(100)) == nil)
        recent.settle(through: 7)
        #expect(recent.page(from: 7, now: ExpiryMoment(0)) == nil)
        recent.append(entry(9, String(repeating: "x", count: RecentPushes.byteLimit)))
        #expect(recent.page(from: 8, now: ExpiryMoment(0)) == nil)
        for seq in 10...2_000 as ClosedRange<Int64> { recent.append(entry(seq)) }
        #expect(recent.page(from: 2_000 - Int64(RecentPushes.limit), now: ExpiryMoment(0)) == nil)
        let page = recent.page(from: 2_001 - Int64(RecentPushes.limit), now: ExpiryMoment(0))
        #expect(page?.entries.count == RecentPushes.pageLimit)
    }
}
