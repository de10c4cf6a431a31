import Delivery
@testable import Inbox
import Notifications
import Sealing
import Store
import Testing
import Wire

/// Pushes that came sealed through a push service, before a session confirms them (WirePrekeys, "Hints").
@Suite struct HintTests {
    private let database: Database

    init() throws {
        database = try Database.open(
            path: ":memory:", migrations: Inbox.migrations + SealStates.migrations
        ).database
    }

    private func notification(_ id: NotificationID, _ title: String, isHint: Bool, key: String? = nil) -> Notification {
        var notification = Notification(id: id, title: title, createdAt: 5, receivedAt: isHint ? 6 : 7)
        notification.richer.collapseKey = key
        notification.isHint = isHint
        return notification
    }

    private func hint(
        _ id: NotificationID, _ number: Int64, _ title: String = "T", key: String? = nil
    ) -> PushIntake<String>.Item {
        .init(
            .push(
                ReceivedPush(
                    desktop: "d", notification: notification(id, title, isHint: true, key: key), hintNumber: number)))
    }

    private func push(
        _ id: NotificationID, _ seq: Int64, _ title: String = "T", key: String? = nil
    ) -> PushIntake<String>.Item {
        .init(
            .push(
                ReceivedPush(
                    desktop: "d", notification: notification(id, title, isHint: false, key: key), seq: seq,
                    mark: SealMark(peer: "d", epoch: 1, seq: seq)))
        ) { _, arrival throws(StoreError) in
            if case .stored = arrival { "alert" } else { nil }
        }
    }

    @discardableResult
    private func take(
        _ items: [PushIntake<String>.Item], hostHasSeen: Int64 = 0
    ) throws -> PushIntake<String>.Outcome {
        try database.run { connection throws(StoreError) in
            try PushIntake(connection).take(items, hostTakes: true, hostHasSeen: hostHasSeen)
        }
    }

    private func read<T: Sendable>(_ work: @escaping @Sendable (Inbox) throws(StoreError) -> T) throws -> T {
        try database.run { connection throws(StoreError) in try work(Inbox(connection)) }
    }

    private func stored(_ id: NotificationID) throws -> Notification? {
        try read { inbox throws(StoreError) in try inbox.find(id, of: "d")?.notification }
    }

    @Test("the session's push confirms a hint that says the same: no second row, no second alert, its number counts")
    func confirmed() throws {
        let first = try take([hint("a", 1)])
        #expect(first.taken.map(\.verdict) == [.stored] && first.unread == 1)
        #expect(first.waiting.pushes.map(\.entry.notification.isHint) == [true])
        #expect(try stored("a")?.isHint == true)
        _ = try read { inbox throws(StoreError) in try inbox.markRead(["a"], of: "d", at: 9) }
        let second = try take([push("a", 1), push("b", 2)])
        #expect(second.taken.map(\.verdict) == [.confirmed, .stored])
        #expect(second.taken.map(\.extra) == [nil, "alert"])
        #expect(second.waiting.pushes.map(\.entry.notification.id) == ["b"] && second.unread == 1)
        #expect(try stored("a")?.isHint == false)
        #expect(try stored("a")?.read == true, "what the user did stays")
        // Once more it is an ordinary duplicate.
        #expect(try take([push("a", 3)]).taken.map(\.verdict) == [.duplicate])
        #expect(try read { inbox throws(StoreError) in try !inbox.counts.repair() })
        let last = try database.run { connection throws(StoreError) in try ReceivedPushes(connection).all() }
        #expect(last == ["d": 3])
    }

    @Test("a hint that says something else gives way to the session's push, which the host and the user are told of")
    func differs() throws {
        let first = try take([hint("a", 1, "Forged")])
        let arrival = try #require(first.waiting.pushes.first?.entry.arrival)
        // The host has seen it.
        let second = try take([push("a", 1, "Genuine")], hostHasSeen: arrival)
        #expect(second.taken.map(\.verdict) == [.stored] && second.taken.map(\.extra) == ["alert"])
        let entry = try #require(second.waiting.pushes.first?.entry)
        #expect(entry.replaces == "a" && entry.notification.title == "Genuine" && !entry.notification.isHint)
        #expect(try stored("a")?.title == "Genuine" && second.unread == 1)
        #expect(try read { inbox throws(StoreError) in try inbox.counts.unread() } == 1)
        #expect(try read { inbox throws(StoreError) in try !inbox.counts.repair() })
        // The host has not seen it: it hears of the genuine one alone.
        try take([hint("b", 2, "Forged")])
        let third = try take([push("b", 2, "Genuine")])
        #expect(third.waiting.pushes.first?.entry.replaces == nil)
        #expect(third.waiting.pushes.first?.replaced.values.sorted { $0.text < $1.text } == ["b"])
        #expect(try read { inbox throws(StoreError) in try !inbox.counts.repair() })
        // Both in one batch.
        let fourth = try take([hint("c", 3, "Forged"), push("c", 3, "Genuine")])
        #expect(fourth.taken.map(\.verdict) == [.stored, .stored])
        #expect(try stored("c")?.title == "Genuine")
        #expect(try read { inbox throws(StoreError) in try !inbox.counts.repair() })
    }

    @Test("a hint is a duplicate behind the session's push, also when that one was deleted; another desktop's is not")
    func late() throws {
        try take([push("a", 1), push("b", 2)])
        #expect(try take([hint("a", 1, "Else")]).taken.map(\.verdict) == [.duplicate])
        #expect(try stored("a")?.title == "T")
        _ = try database.run { connection throws(StoreError) in
            try connection.execute("DELETE FROM inbox WHERE id = 'b'")
        }
        #expect(try take([hint("b", 2)]).taken.map(\.verdict) == [.duplicate])
        #expect(try take([hint("c", 3)]).taken.map(\.verdict) == [.stored])
        // The desktop counts anew after a backup: a hint waits for its session then, and the push itself comes.
        #expect(try take([hint("n", 1)]).taken.map(\.verdict) == [.duplicate])
        #expect(try take([push("n", 3)]).taken.map(\.verdict) == [.stored])
    }

    @Test("hints have collapse keys like other pushes of their desktop")
    func collapsed() throws {
        try take([push("a", 1, "Old", key: "k")])
        let outcome = try take([hint("b", 2, "New", key: "k")])
        #expect(outcome.taken.map(\.verdict) == [.stored])
        #expect(try stored("a") == nil)
        #expect(try take([push("b", 2, "New", key: "k")]).taken.map(\.verdict) == [.confirmed])

    }

    @Test("an older hint doesn't replace a newer one of its collapse key, whatever order the service delivers them in")
    func outOfOrder() throws {
        try take([hint("b", 6, "New", key: "k")])
        #expect(try take([hint("a", 5, "Old", key: "k")]).taken.map(\.verdict) == [.duplicate])
        #expect(try stored("a") == nil && stored("b")?.title == "New")
        #expect(try take([hint("c", 4, key: "l"), hint("d", 3)]).taken.map(\.verdict) == [.stored, .stored])
        #expect(try take([hint("e", 7, "Newest", key: "k")]).taken.map(\.verdict) == [.stored])
        #expect(try stored("b") == nil)
        let batch = try take([hint("g", 9, key: "m"), hint("f", 8, key: "m")])
        #expect(batch.taken.map(\.verdict) == [.stored, .duplicate])
        #expect(batch.waiting.pushes.map(\.entry.notification.id) == ["g"])
        #expect(try read { inbox throws(StoreError) in try !inbox.counts.repair() })
    }

    private func merge(_ id: NotificationID, _ title: String) throws {
        _ = try read { inbox throws(StoreError) in
            try inbox.history.merge(HistoryRow(id: id, title: title, createdAt: 5), from: "d", receivedAt: 9)
        }
    }

    @Test("the history corrects a hint's text and doesn't confirm it: the session's push does, or takes its place")
    func history() throws {
        try take([hint("c", 3, "C", key: "x")])
        try merge("c", "C")
        #expect(try stored("c")?.isHint == true)
        #expect(try take([push("c", 3, "C", key: "x")]).taken.map(\.verdict) == [.confirmed])
        #expect(try stored("c")?.isHint == false)

        // What the host and the user have seen was not what the desktop sent.
        try take([hint("d", 4, "Forged")])
        try merge("d", "D")
        #expect(try stored("d")?.title == "D" && stored("d")?.isHint == true)
        let corrected = try take([push("d", 4, "D")])
        #expect(corrected.taken.map(\.verdict) == [.stored] && corrected.taken.map(\.extra) == ["alert"])
        #expect(try stored("d")?.isHint == false)

        try take([hint("e", 5, "E", key: "forged")])
        try merge("e", "E")
        #expect(try take([push("e", 5, "E")]).taken.map(\.verdict) == [.stored])
        #expect(try stored("e")?.richer.collapseKey == nil && stored("e")?.isHint == false)
        #expect(try read { inbox throws(StoreError) in try !inbox.counts.repair() })
    }

    @Test("a hint of what the history has brought already is a duplicate; the session's push is handed over")
    func behindHistory() throws {
        try merge("a", "Genuine")
        let hinted = try take([hint("a", 1, "Forged")])
        #expect(hinted.taken.map(\.verdict) == [.duplicate] && hinted.waiting.pushes.isEmpty)
        #expect(try stored("a")?.title == "Genuine" && stored("a")?.isHint == false)
        let pushed = try take([push("a", 1, "Genuine")])
        #expect(pushed.taken.map(\.verdict) == [.stored] && pushed.taken.map(\.extra) == ["alert"])
        #expect(pushed.waiting.pushes.map(\.entry.notification.isHint) == [false])
    }
}
