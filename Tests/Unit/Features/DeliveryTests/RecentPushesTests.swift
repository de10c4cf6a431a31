@testable import Delivery
import JSON
import Notifications
import Sealing
import TestSupport
import Testing
import Wire

/// What memory tells apart: pushes without numbers, by their ids.
@Suite struct RecentPushesTests {
    private enum Admission { case admitted, duplicate }

    private func push(
        _ id: NotificationID, timestamp: EpochMilliseconds? = nil, from desktop: PeerID = "d"
    ) -> ReceivedPush {
        ReceivedPush(
            desktop: desktop,
            notification: Notification(NotificationEvent(id: id, title: "T", timestamp: timestamp), receivedAt: 0))
    }

    /// Gives the push to the receiver, and stores it.
    private func admit(_ receiver: inout PushReceiver, _ push: ReceivedPush, now: UInt64) -> Admission {
        switch receiver.received(push, now: now).first {
        case .commit(let items):
            _ = receiver.committed(items.map { _ in .stored })
            return .admitted
        case _: return .duplicate
        }
    }

    @Test("a push that comes twice within 30 s is one, whatever its timestamp says")
    func duplicate() {
        var receiver = PushReceiver()
        #expect(admit(&receiver, push("n", timestamp: 1), now: 0) == .admitted)
        #expect(admit(&receiver, push("n", timestamp: 2), now: 29_999) == .duplicate)
        #expect(admit(&receiver, push("n", timestamp: 1), now: 30_000) == .admitted)
        #expect(receiver.counters.admitted == 2)
        #expect(receiver.counters.duplicates == 1)
    }

    @Test("the same timestamp makes no duplicate, and neither does another desktop's id")
    func keys() {
        var receiver = PushReceiver()
        #expect(admit(&receiver, push("1", timestamp: 7), now: 0) == .admitted)
        #expect(admit(&receiver, push("2", timestamp: 7), now: 0) == .admitted)
        #expect(admit(&receiver, push("1", timestamp: 7, from: "e"), now: 0) == .admitted)
    }

    @Test("256 ids are remembered, the least recently seen is forgotten first")
    func limit() {
        var receiver = PushReceiver()
        for number in 0..<256 {
            #expect(admit(&receiver, push(NotificationID("\(number)")), now: 0) == .admitted)
        }
        // Seen again, so number 1 is now the least recently seen.
        #expect(admit(&receiver, push("0"), now: 1) == .duplicate)
        #expect(admit(&receiver, push("256"), now: 1) == .admitted)
        #expect(admit(&receiver, push("0"), now: 1) == .duplicate)
        #expect(admit(&receiver, push("2"), now: 1) == .duplicate)
        #expect(admit(&receiver, push("1"), now: 1) == .admitted)
    }

    @Test("malformed events are counted and take no slot")
    func malformed() throws {
        var receiver = PushReceiver()
        for number in 0..<256 { _ = admit(&receiver, push(NotificationID("\(number)")), now: 0) }
        let frame = #"{"type":"chainlesschain:event","payload":{"event":"notification.received","title":"no id"}}"#
        for _ in 0..<300 {
            guard case .malformed(let malformed) = Payload(decoding: try JSONValue(parsing: frame)) else {
                Issue.record("accepted")
                return
            }
            #expect(malformed.kind == .event)
            receiver.droppedMalformed()
        }
        #expect(receiver.counters.malformed == 300)
        #expect(admit(&receiver, push("0"), now: 1) == .duplicate)
    }

    @Test("a push that could not be stored may come again")
    func release() {
        var receiver = PushReceiver()
        guard case .commit = receiver.received(push("n"), now: 0).first else {
            Issue.record("not admitted")
            return
        }
        _ = receiver.failed()
        #expect(receiver.counters.admitted == 0)
        #expect(admit(&receiver, push("n"), now: 1) == .admitted)
        #expect(receiver.counters.admitted == 1)
    }

    @Test("recent pushes are forgotten as a list would", arguments: 1...50)
    func recentPushes(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var keys = RecentPushes(limit: 8)
        var model: [(key: RecentPushes.Key, at: UInt64)] = []
        for now in 0..<UInt64(500) {
            let number = Int.random(in: 0..<14, using: &random)
            let key = RecentPushes.Key(desktop: PeerID("d\(number % 2)"), id: NotificationID("n\(number)"))
            let place = model.firstIndex { $0.key == key }
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                #expect(keys.touch(key) == place.map { model[$0].at })
                if let place { model.append(model.remove(at: place)) }
            case 1:
                keys.remove(key)
                if let place { model.remove(at: place) }
            case _:
                keys.insert(key, at: now)
                if let place { model.remove(at: place) }
                if model.count == 8 { model.removeFirst() }
                model.append((key, now))
            }
            #expect(keys.count == model.count)
        }
        // Each that the list still has, oldest first, is here too.
        for entry in model { #expect(keys.touch(entry.key) == entry.at) }
    }
}
