@testable import Inbox
import JSON
@testable import Notifications
import Testing
import Wire

@Suite struct DispatcherTests {
    private func event(_ id: NotificationID, timestamp: EpochMilliseconds? = nil) -> NotificationEvent {
        NotificationEvent(id: id, title: "T", timestamp: timestamp)
    }

    @Test("a push that comes twice within 30 s is one, whatever its timestamp says")
    func duplicate() {
        var dispatcher = Dispatcher()
        #expect(dispatcher.admit(event("n", timestamp: 1), from: "d", now: 0) == .admitted)
        #expect(dispatcher.admit(event("n", timestamp: 2), from: "d", now: 29_999) == .duplicate)
        #expect(dispatcher.admit(event("n", timestamp: 1), from: "d", now: 30_000) == .admitted)
        #expect(dispatcher.counters.admitted == 2)
        #expect(dispatcher.counters.duplicates == 1)
    }

    @Test("the same timestamp makes no duplicate, and neither does another desktop's id")
    func keys() {
        var dispatcher = Dispatcher()
        #expect(dispatcher.admit(event("1", timestamp: 7), from: "d", now: 0) == .admitted)
        #expect(dispatcher.admit(event("2", timestamp: 7), from: "d", now: 0) == .admitted)
        #expect(dispatcher.admit(event("1", timestamp: 7), from: "e", now: 0) == .admitted)
    }

    @Test("256 ids are remembered, the least recently seen is forgotten first")
    func limit() {
        var dispatcher = Dispatcher()
        for number in 0..<256 {
            #expect(dispatcher.admit(event(NotificationID("\(number)")), from: "d", now: 0) == .admitted)
        }
        // Seen again, so number 1 is now the least recently seen.
        #expect(dispatcher.admit(event("0"), from: "d", now: 1) == .duplicate)
        #expect(dispatcher.admit(event("256"), from: "d", now: 1) == .admitted)
        #expect(dispatcher.admit(event("0"), from: "d", now: 1) == .duplicate)
        #expect(dispatcher.admit(event("2"), from: "d", now: 1) == .duplicate)
        #expect(dispatcher.admit(event("1"), from: "d", now: 1) == .admitted)
    }

    @Test("malformed events are counted and take no slot")
    func malformed() throws {
        var dispatcher = Dispatcher()
        for number in 0..<256 { _ = dispatcher.admit(event(NotificationID("\(number)")), from: "d", now: 0) }
        let frame = #"{"type":"chainlesschain:event","payload":{"event":"notification.received","title":"no id"}}"#
        for _ in 0..<300 {
            guard case .malformed(let malformed) = Payload(decoding: try JSONValue(parsing: frame)) else {
                Issue.record("accepted")
                return
            }
            dispatcher.drop(malformed)
        }
        #expect(dispatcher.counters.malformed == 300)
        #expect(dispatcher.admit(event("0"), from: "d", now: 1) == .duplicate)
    }

    @Test("a push that could not be stored may come again")
    func release() {
        var dispatcher = Dispatcher()
        #expect(dispatcher.admit(event("n"), from: "d", now: 0) == .admitted)
        dispatcher.release("n", from: "d")
        #expect(dispatcher.admit(event("n"), from: "d", now: 1) == .admitted)
        #expect(dispatcher.counters.admitted == 1)
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

/// SplitMix64: the same numbers for the same seed.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
