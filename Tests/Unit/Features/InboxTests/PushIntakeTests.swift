import Delivery
@testable import Inbox
import Notifications
import Sealing
import Store
import Testing
import Wire

/// A batch of pushes enters the inbox in one transaction.
@Suite struct PushIntakeTests {
    private let database: Database

    init() throws {
        database = try Database.open(
            path: ":memory:", migrations: Inbox.migrations + SealStates.migrations
        ).database
    }

    private func item(
        _ id: NotificationID, _ seq: Int64? = nil, seal: Int64? = nil, key: String? = nil, from desktop: PeerID = "d",
        alongside: PushIntake<String>.Alongside? = nil
    ) -> PushIntake<String>.Item {
        var notification = Notification(id: id, title: "T", createdAt: 5, receivedAt: 6)
        notification.richer.collapseKey = key
        let mark = (seal ?? seq).map { SealMark(peer: desktop, epoch: 1, seq: $0) }
        return .init(
            .push(ReceivedPush(desktop: desktop, notification: notification, seq: seq, mark: mark)),
            alongside: alongside)
    }

    private func skip(through seq: Int64, seal: Int64) -> PushIntake<String>.Item {
        .init(.skip(ReceivedSkip(desktop: "d", through: seq, mark: SealMark(peer: "d", epoch: 1, seq: seal))))
    }

    @discardableResult
    private func take(
        _ items: [PushIntake<String>.Item], hostTakes: Bool = true, hostHasSeen: Int64 = 0
    ) throws -> PushIntake<String>.Outcome {
        try database.run { connection throws(StoreError) in
            try PushIntake(connection).take(items, hostTakes: hostTakes, hostHasSeen: hostHasSeen)
        }
    }

    private func read<T: Sendable>(_ work: @escaping @Sendable (Inbox) throws(StoreError) -> T) throws -> T {
        try database.run { connection throws(StoreError) in try work(Inbox(connection)) }
    }

    @Test("rows, numbers, seals, counts and watermarks come with one commit, and nothing needs to be read back")
    func batch() throws {
        let outcome = try take([item("a", 1), item("b", 2), item("x", from: "e"), item("c", 3)])
        #expect(outcome.taken.map(\.verdict) == [.stored, .stored, .stored, .stored])
        #expect(outcome.unread == 4)
        #expect(outcome.waiting.after == 0 && outcome.waiting.last == 4 && outcome.waiting.offered == 4)
        #expect(
            try read { inbox throws(StoreError) in try inbox.waiting(limit: 9) }
                == outcome.waiting.pushes.map(\.entry))
        let (last, window, marks) = try database.run { connection throws(StoreError) in
            (
                try ReceivedPushes(connection).all(), try SealStates(connection).window(of: "d"),
                try Inbox(connection).handover.watermarks()
            )
        }
        #expect(last == ["d": 3])
        #expect(window?.accepts(epoch: 1, seq: 3) == false && window?.accepts(epoch: 1, seq: 4) == true)
        #expect(marks == Inbox.Watermarks(last: 4, handed: 0, offered: 4, waiting: 4))
        #expect(try read { inbox throws(StoreError) in try !inbox.counts.repair() })
        #expect(try read { inbox throws(StoreError) in try inbox.history.beginGap(of: "d", orSince: 1) } == 5)
    }

    @Test("what the host does not take now, or what waits behind many, is not offered")
    func offers() throws {
        #expect(try take([item("a", 1)], hostTakes: false).waiting.offered == 0)
        let more = (2...Int64(Inbox.offeredLimit)).map { item(NotificationID("n\($0)"), $0) }
        #expect(try take(more).waiting.offered == Inbox.offeredLimit)
        #expect(try take([item("z", Inbox.offeredLimit + 1)]).waiting.offered == Inbox.offeredLimit)
        // A dispatch moves it on.
        _ = try read { inbox throws(StoreError) in try inbox.handover.finish(through: 64, offering: 300) }
        let marks = try read { inbox throws(StoreError) in try inbox.handover.watermarks() }
        #expect(marks == Inbox.Watermarks(last: 257, handed: 64, offered: 257, waiting: 193))
        try read { inbox throws(StoreError) in try inbox.handover.withdrawOffer(beyond: 70) }
        #expect(try read { inbox throws(StoreError) in try inbox.handover.watermarks().offered } == 70)
    }

    @Test(
        "finishing a dispatch returns what the table then says was offered",
        arguments: [(64, 300), (64, 0), (900, 10), (0, 200)])
    func finishing(through: Int64, next: Int64) throws {
        try take((1...Int64(300)).map { item(NotificationID("n\($0)"), $0) })
        // Twice: the second finds nothing new.
        for _ in 1...2 {
            let (offered, marks) = try read { inbox throws(StoreError) in
                (
                    try inbox.handover.finish(through: through, offering: next),
                    try inbox.handover.watermarks()
                )
            }
            #expect(offered == marks.offered)
        }
    }

    @Test("a push that has a row is a duplicate whose number counts; a row of the history becomes a push")
    func duplicates() throws {
        try take([item("a", 1)])
        _ = try read { inbox throws(StoreError) in
            try inbox.history.merge(HistoryRow(id: "h", title: "H", read: true, createdAt: 1), from: "d", receivedAt: 2)
        }
        let outcome = try take([item("a", 2), item("h", 3), item("a", seal: 90)])
        #expect(outcome.taken.map(\.verdict) == [.duplicate, .stored, .duplicate])
        #expect(outcome.waiting.pushes.map(\.entry.notification.id) == ["h"])
        #expect(outcome.unread == 1)
        #expect(
            try database.run { connection throws(StoreError) in try ReceivedPushes(connection).last(of: "d") } == 3)
        #expect(try read { inbox throws(StoreError) in try !inbox.counts.repair() })
    }

    @Test("a seal that has had an effect has none; what comes after its number is not looked at")
    func replays() throws {
        try take([item("a", 1)])
        let outcome = try take([
            item("b", 2, seal: 1), item("c", 3), item("p", from: "e"), skip(through: 9, seal: 50), item("q", seal: 60),
        ])
        #expect(outcome.taken.map(\.verdict) == [.replayed, .behind, .stored, .behind, .stored])
        #expect(outcome.unread == 3)
        #expect(
            try database.run { connection throws(StoreError) in try ReceivedPushes(connection).last(of: "d") } == 1)
        #expect(try take([skip(through: 9, seal: 50)]).taken.map(\.verdict) == [.stored])
        #expect(try take([skip(through: 12, seal: 50)]).taken.map(\.verdict) == [.replayed])
        #expect(
            try database.run { connection throws(StoreError) in try ReceivedPushes(connection).last(of: "d") } == 9)
    }

    @Test("a full inbox takes none, and no number after it")
    func full() throws {
        try database.run { connection throws(StoreError) in
            try connection.execute(
                "UPDATE push_count SET waiting = ? WHERE peer = 0", [.integer(Inbox.waitingLimit - 1)])
        }
        let outcome = try take([item("a", 1), item("b", 2), item("c", 3)])
        #expect(outcome.taken.map(\.verdict) == [.stored, .full, .behind])
        #expect(
            try database.run { connection throws(StoreError) in try ReceivedPushes(connection).last(of: "d") } == 1)
    }

    @Test("a push takes the place of its like in its own batch, too; the host is told of what it has seen")
    func collapse() throws {
        let first = try take([item("a", 1, key: "k"), item("b", 2, key: "k")])
        #expect(first.unread == 1)
        #expect(first.waiting.pushes.map(\.replaced) == [[:], [1: "a"]])
        #expect(first.waiting.pushes.map(\.entry.replaces) == [nil, nil])
        #expect(try read { inbox throws(StoreError) in try !inbox.counts.repair() })
        // b was taken by a callback, and is not marked yet.
        let second = try take([item("c", 3, key: "k")], hostHasSeen: 2)
        #expect(second.waiting.pushes.map(\.entry.replaces) == ["b"])
        #expect(try read { inbox throws(StoreError) in try inbox.handover.watermarks().waiting } == 1)
        #expect(try read { inbox throws(StoreError) in try !inbox.counts.repair() })
    }

    @Test("what a push brings about besides is in the same transaction, and fails with it")
    func alongside() throws {
        try database.run { connection throws(StoreError) in
            try connection.execute("CREATE TABLE note (text TEXT)")
        }
        let noting: PushIntake<String>.Alongside = { (connection, arrival) throws(StoreError) in
            guard case .stored(let row, _) = arrival else { return nil }
            try connection.execute("INSERT INTO note VALUES (?)", [.text("row \(row)")])
            return "row \(row)"
        }
        let outcome = try take([item("a", alongside: noting), item("a", alongside: noting), item("b")])
        #expect(outcome.taken.map(\.extra) == ["row 1", nil, nil])
        let failing: PushIntake<String>.Alongside = { (_, _) throws(StoreError) in throw StoreError(.full, "full") }
        #expect(throws: StoreError.self) { try take([item("c", alongside: noting), item("d", alongside: failing)]) }
        let notes = try database.run { connection throws(StoreError) in
            try connection.query("SELECT text FROM note") { (row) throws(StoreError) in try row.text(0) }
        }
        #expect(notes == ["row 1"])
        #expect(try read { inbox throws(StoreError) in try inbox.counts.unread() } == 2)
    }

    @Test("counts that are wrong are set right on open")
    func repair() throws {
        try take([item("a", 1), item("b", 2), item("x", from: "e")])
        try database.run { connection throws(StoreError) in
            try connection.executeScript(
                """
                UPDATE push_count SET waiting = 77, offered = 99 WHERE peer = 0;
                UPDATE push_count SET unread = 5, total = 9 WHERE peer = 1;
                DELETE FROM push_count WHERE peer = 2;
                INSERT INTO push_count (peer, total, unread) VALUES (9, 4, 4);
                """)
        }
        #expect(try read { inbox throws(StoreError) in try inbox.counts.repair() })
        #expect(try read { inbox throws(StoreError) in try !inbox.counts.repair() })
        let (marks, unread) = try read { inbox throws(StoreError) in
            (try inbox.handover.watermarks(), try inbox.counts.unread())
        }
        #expect(marks == Inbox.Watermarks(last: 3, handed: 0, offered: 3, waiting: 3))
        #expect(unread == 3)
    }
}
