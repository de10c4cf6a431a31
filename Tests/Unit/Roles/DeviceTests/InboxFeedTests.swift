import Delivery
import Foundation
import Hosting
import JSON
import Notifications
import Sharing
import Store
import Testing
import Wire

@testable import Device
@testable import Inbox

/// Pushes for programs that share the device: rows of the inbox, and each program's own mark.
@Suite struct InboxFeedTests {
    private let database: Database
    private let feed = InboxFeed(handoverPath: nil)

    init() throws {
        database = try Database.open(path: ":memory:", migrations: DeviceSwitchboard.migrations).database
    }

    private func work<T: Sendable>(
        _ body: @escaping @Sendable (Connection) throws(StoreError) -> T
    ) throws -> T { try database.run(body) }

    private func register(_ name: String, now: Int64 = 0) throws {
        try work { [feed] (connection) throws(StoreError) in
            try Applications(connection, [.notificationReceived: feed]).register(name, now: now)
            _ = try feed.join(name, connection)
        }
    }

    @discardableResult
    private func store(_ ids: [String], key: String? = nil, isShared: Bool = true) throws -> NewlyWaiting {
        let items = ids.map { id -> PushIntake<Int>.Item in
            var push = Notification(id: NotificationID(id), title: "T \(id)", createdAt: 1, receivedAt: 1)
            push.richer.collapseKey = key
            return .init(.push(ReceivedPush(desktop: "d", notification: push)))
        }
        return try work { (connection) throws(StoreError) in
            try PushIntake(connection).take(items, hostTakes: true, hostHasSeen: 0, isShared: isShared).waiting
        }
    }

    private func take(_ name: String, limit: Int = 100) throws -> [WaitingEvent] {
        try work { [feed] (connection) throws(StoreError) in
            var size = FeedBatch.Size()
            return try feed.take(name, limit: limit, &size, connection)
        }
    }

    private func ids(_ name: String) throws -> [String] { try take(name).compactMap { $0.event.data["id"]?.string } }

    private func finish(_ name: String, through row: Int64 = .max) throws {
        try work { [feed] (connection) throws(StoreError) in try feed.finish(name, through: row, connection) }
    }

    private func rows(_ condition: String = "true") throws -> Int64 {
        try work { (connection) throws(StoreError) in
            try connection.integer("SELECT count(*) FROM inbox WHERE \(condition)")
        }
    }

    private func counts() throws -> (total: Int64, unread: Int64) {
        try work { (connection) throws(StoreError) in
            let isWrong = try Inbox(connection).counts.repair()
            #expect(!isWrong, "the counts are kept")
            return (
                try connection.integer("SELECT ifnull(sum(total), 0) FROM push_count"),
                try connection.integer("SELECT ifnull(sum(unread), 0) FROM push_count")
            )
        }
    }

    @Test("each program gets every push once, by its own mark; a new one from then on; a push is stored once")
    func ownMarks() throws {
        try register("a")
        try store(["1", "2", "3"])
        try register("b")
        try store(["4", "5"])
        #expect(try ids("a") == ["1", "2", "3", "4", "5"])
        #expect(try ids("b") == ["4", "5"])
        try finish("a")
        #expect(try ids("a").isEmpty && ids("b") == ["4", "5"])
        #expect(try rows() == 5)
        #expect(
            try work { (connection) throws(StoreError) in try Inbox(connection).handover.watermarks().waiting } == 0)
    }

    @Test("what waited before there was a program is for the first one, or for one that doesn't share the device")
    func firstProgram() throws {
        try store(["1", "2"])
        #expect(
            try work { (connection) throws(StoreError) in try Inbox(connection).handover.watermarks().waiting } == 2)
        try register("a")
        try register("b")
        #expect(try ids("a") == ["1", "2"] && ids("b").isEmpty)
        #expect(
            try work { (connection) throws(StoreError) in try Inbox(connection).handover.watermarks().waiting } == 0)
        // A program that has the device to itself: what comes is for it, and the others get it when they are back.
        try store(["3"], isShared: false)
        #expect(
            try work { (connection) throws(StoreError) in try Inbox(connection).handover.watermarks().waiting } == 1)
        try work { (connection) throws(StoreError) in try InboxPrograms(connection).adopt() }
        #expect(
            try work { (connection) throws(StoreError) in try Inbox(connection).handover.watermarks().waiting } == 0)
        #expect(try ids("a") == ["1", "2", "3"] && ids("b") == ["3"])
    }

    @Test("a deleted push stays, hidden, until every program has had it")
    func deleted() throws {
        try register("a")
        try register("b")
        try store(["1", "2"])
        try finish("a")
        try work { (connection) throws(StoreError) in _ = try Inbox(connection).take(out: "id = '1'", []) }
        #expect(try rows("hidden = 2") == 1)
        #expect(try counts().unread == 1)
        #expect(try ids("b") == ["1", "2"])
        try finish("b")
        #expect(try rows() == 1)
        #expect(try counts() == (1, 1))
        // Nobody waits for it.
        try work { (connection) throws(StoreError) in _ = try Inbox(connection).take(out: "id = '2'", []) }
        #expect(try rows() == 0)
    }

    @Test("a push that replaces another names it, to each program that gets both")
    func replaced() throws {
        try register("a")
        try store(["1"], key: "k")
        try finish("a")
        try register("b")
        try store(["2"], key: "k")
        #expect(try rows() == 1, "everyone has had the first")
        try store(["3", "4"], key: "k")
        for name in ["a", "b"] {
            let events = try take(name)
            #expect(events.map { $0.event.data["id"] } == ["2", "3", "4"])
            #expect(events.map { $0.event.data["replaces"] } == ["1", "2", "3"])
            #expect(events.allSatisfy { $0.event.name == .notificationUpdated })
        }
        #expect(try rows("hidden = 0") == 1)
        #expect(try counts() == (3, 1))
        try finish("a")
        #expect(try rows() == 3)
        try finish("b")
        #expect(try rows() == 1)
        #expect(try counts() == (1, 1))
    }

    @Test("a genuine push that differs from its hint takes its place, for programs too")
    func hint() throws {
        try register("a")
        var hint = Notification(id: "1", title: "Hint", createdAt: 1, receivedAt: 1)
        hint.isHint = true
        let items: [PushIntake<Int>.Item] = [
            .init(.push(ReceivedPush(desktop: "d", notification: hint, hintNumber: 1))),
            .init(
                .push(
                    ReceivedPush(
                        desktop: "d",
                        notification: Notification(id: "1", title: "Genuine", createdAt: 1, receivedAt: 1), seq: 1))),
        ]
        let outcome = try work { (connection) throws(StoreError) in
            try PushIntake(connection).take(items, hostTakes: true, hostHasSeen: 0, isShared: true)
        }
        #expect(outcome.taken.map(\.verdict) == [.stored, .stored])
        #expect(try take("a").map { $0.event.data["title"] } == ["Genuine"])
        #expect(
            try work { (connection) throws(StoreError) in try Inbox(connection).handover.watermarks().waiting } == 0)
        #expect(try counts() == (1, 1))
    }

    @Test("a program that is too far behind misses the oldest, hears how many, and holds up no other")
    func capacity() throws {
        try register("a")
        try register("b")
        try store(["first", "second"])
        try finish("b")
        try work { (connection) throws(StoreError) in _ = try Inbox(connection).take(out: "id = 'first'", []) }
        var new = NewlyWaiting()
        for part in 0..<40 { new = try store((0..<250).map { "\(part)-\($0)" }) }
        #expect(new.droppedThrough == 2)
        #expect(try rows("hidden = 2") == 0)
        let dropped = try work { [feed] (connection) throws(StoreError) in
            [try feed.takeDropped("a", connection), try feed.takeDropped("b", connection)]
        }
        #expect(dropped == [2, 0])
        #expect(try take("a", limit: 1).first?.event.data["id"] == "0-0")
        #expect(try take("b", limit: 1).first?.event.data["id"] == "0-0")
    }

    @Test("rows that a program has not had are not pruned")
    func pruning() throws {
        try register("a")
        try store(["1"])
        try register("b")
        let late = Inbox.lifetime + 10
        try work { (connection) throws(StoreError) in _ = try Inbox(connection).prune(now: late) }
        #expect(try rows() == 1)
        try finish("a")
        try work { (connection) throws(StoreError) in _ = try Inbox(connection).prune(now: late) }
        #expect(try rows() == 0)
    }

    @Test("what callbacks may have seen is recorded before they do, ahead after that, and taken back at a clean end")
    func offered() throws {
        func marks() throws -> InboxPrograms.Marks? {
            try work { (connection) throws(StoreError) in try InboxPrograms(connection).marks("a") }
        }
        try register("a")
        try store(["1", "2", "3", "4"])
        #expect(try marks()?.offered == 0)
        let rows = try take("a", limit: 2).map(\.row)
        #expect(try marks()?.offered == rows.last)
        try finish("a", through: rows[0])
        #expect(
            try marks() == InboxPrograms.Marks(slot: 1, handed: rows[0], offered: 4),
            "nobody can have seen what never came")
        try work { [feed] (connection) throws(StoreError) in try feed.settle("a", seen: rows[1], connection) }
        #expect(try marks()?.offered == rows[1])
    }

    @Test("a batch for the socket ends before it is too large")
    func bytes() throws {
        try register("a")
        let text = String(repeating: "\u{1}", count: 60_000)
        let items = (0..<40).map { number -> PushIntake<Int>.Item in
            .init(
                .push(
                    ReceivedPush(
                        desktop: "d",
                        notification: Notification(
                            id: NotificationID("\(number)"), title: "T", body: text, createdAt: 1, receivedAt: 1))))
        }
        try work { (connection) throws(StoreError) in
            _ = try PushIntake(connection).take(items, hostTakes: true, hostHasSeen: 0, isShared: true)
        }
        var count = 0
        while case let events = try take("a"), let last = events.last {
            let size = events.reduce(0) { $0 + JSONValue.object($1.event.data).serializedBytes().count }
            #expect(size <= FeedBatch.maximumBytes && events.count < 40)
            count += events.count
            try finish("a", through: last.row)
        }
        #expect(count == 40)
    }

    @Test("numbers at either end of what a damaged file can say end no process", arguments: [Int64.max, .min, -1])
    func extremes(number: Int64) throws {
        try register("a")
        try store(["1", "2"])
        try work { [feed] (connection) throws(StoreError) in
            try connection.execute("UPDATE inbox_program SET handed = ?1, offered = ?1", [.integer(number)])
            try Inbox(connection).counts.repair()
            _ = try feed.begin("a", connection)
            try feed.finish("a", through: number, connection)
            try feed.settle("a", seen: number, connection)
        }
        try store(["3"])
        #expect(try take("a").last?.event.data["id"] == "3")
    }
}
