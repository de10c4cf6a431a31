import Delivery
@testable import Device
import Foundation
import Glibc
import Hosting
@testable import Inbox
import JSON
import Notifications
import Store
import Synchronization
import TestSupport
import Testing
import Wire

/// The pushes that wait for the host, between the store's thread and the host's.
@Suite struct WaitingPushesTests {
    private final class Bench: Sendable {
        let database: Database
        let waiting: WaitingPushes
        let isShared: Bool
        /// The store's thread is at work on what a test holds it up with.
        let isHeldUp = Atomic(false)

        init(_ database: Database? = nil, mark: HandoverMark? = nil) throws {
            self.database =
                try database
                ?? Database.open(path: ":memory:", migrations: Inbox.migrations).database
            let marks = try self.database.run { connection throws(StoreError) in
                try Inbox(connection).handover.watermarks()
            }
            waiting = WaitingPushes(self.database, marks, mark: mark)
            isShared = false
        }

        init(_ database: Database, _ shared: WaitingPushes) {
            (self.database, waiting, isShared) = (database, shared, true)
        }

        /// Stores pushes as the device does. `isTold` = memory hears of them.
        func store(_ ids: [String], key: String? = nil, isTold: Bool = true) throws {
            let new = try commit(ids, key: key)
            if isTold { waiting.stored(new) } else { waiting.stored(through: new.last) }
        }

        /// Stores pushes, and tells memory nothing yet. The collapse key is of the last `collapsed` of them.
        func commit(_ ids: [String], key: String? = nil, collapsed: Int = .max) throws -> NewlyWaiting {
            let items = ids.enumerated().map { index, id -> PushIntake<Int>.Item in
                var push = Notification(id: NotificationID(id), title: "T \(id)", createdAt: 1, receivedAt: 1)
                if ids.count - index <= collapsed { push.richer.collapseKey = key }
                return .init(.push(ReceivedPush(desktop: "d", notification: push)))
            }
            return try database.run { [waiting, isShared] connection throws(StoreError) in
                let host = waiting.place
                return try PushIntake(connection).take(
                    items, hostTakes: host.hostTakes, hostHasSeen: host.hostHasSeen, isShared: isShared
                ).waiting
            }
        }

        func take(_ limit: Int = 64) throws -> [WaitingEvent] { try waiting.take(limit: limit) }

        var marks: Inbox.Watermarks {
            get throws {
                try database.run { connection throws(StoreError) in try Inbox(connection).handover.watermarks() }
            }
        }
    }

    private func ids(_ events: [WaitingEvent]) -> [String] { events.compactMap { $0.event.data["id"]?.string } }

    @Test("pushes come from memory in order, once; a dispatch commits once that they were handed over")
    func inOrder() throws {
        let bench = try Bench()
        #expect(try bench.take().isEmpty)
        try bench.store(["a", "b", "c"])
        #expect(try bench.marks.offered == 3, "the host takes: it may see them before the next commit")
        let first = try bench.take(2)
        #expect(ids(first) == ["a", "b"] && first.allSatisfy { $0.event.data["redelivered"] == nil })
        #expect(try bench.marks.handed == 0)
        try bench.waiting.finish(handed: [first[0].row], untouched: [first[1].row])
        #expect(try bench.marks.handed == 1)
        #expect(try ids(bench.take()) == ["b", "c"])
        #expect(try bench.take().isEmpty)
    }

    @Test("beyond what memory holds the table has them, in the same order, and none is lost or doubled")
    func beyondMemory() throws {
        let bench = try Bench()
        var made: [String] = []
        func store(_ count: Int, isTold: Bool = true) throws {
            let new = (made.count..<made.count + count).map { "n\($0)" }
            made += new
            try bench.store(new, isTold: isTold)
        }
        try store(WaitingPushes.limit + 700)
        var seen: [String] = []
        while true {
            let events = try bench.take()
            if events.isEmpty { break }
            seen += ids(events)
            try bench.waiting.finish(handed: events.map(\.row), untouched: [])
            if made.count < 2_500 { try store(40, isTold: made.count.isMultiple(of: 3)) }
        }
        #expect(seen == made)
        #expect(try bench.marks.waiting == 0)
    }

    @Test("one that another replaces is not handed over; what the host has seen is named")
    func replaced() throws {
        let bench = try Bench()
        try bench.store(["a"], key: "k")
        try bench.store(["b"], key: "k")
        let events = try bench.take()
        #expect(ids(events) == ["b"] && events[0].event.data["replaces"] == nil)
        // Its callback runs: the host knows b.
        try bench.store(["c"], key: "k")
        try bench.waiting.finish(handed: events.map(\.row), untouched: [])
        let next = try bench.take()
        #expect(ids(next) == ["c"] && next[0].event.data["replaces"] == "b")
        #expect(next[0].event.name == .notificationUpdated)
    }

    @Test(
        "what a push replaces is named if the host took that meanwhile: in memory or beyond it, and by the one after it",
        arguments: [0, WaitingPushes.limit, WaitingPushes.limit + 300], [false, true])
    func replacedMeanwhile(others: Int, isReplacedAgain: Bool) throws {
        let bench = try Bench()
        #expect(try bench.take().isEmpty)
        try bench.store(["a"], key: "k")
        // Its transaction ends before the host takes a, and memory hears of it afterwards.
        let new = try bench.commit((0..<others).map { "n\($0)" } + ["b"], key: "k", collapsed: 1)
        var events = try bench.take()
        #expect(ids(events) == ["a"])
        bench.waiting.stored(new)
        if isReplacedAgain { try bench.store(["c"], key: "k") }
        while true {
            try bench.waiting.finish(handed: events.map(\.row), untouched: [])
            let next = try bench.take()
            if next.isEmpty { break }
            events = next
        }
        let last = try #require(events.last?.event)
        #expect(last.data["id"] == (isReplacedAgain ? "c" : "b"))
        #expect(last.name == .notificationUpdated && last.data["replaces"] == "a")
    }

    @Test("a push that is stored while a take commits its offer comes with the next take, and after a death says so")
    func storedDuringOffer() async throws {
        let bench = try Bench()
        try bench.store(["a"])
        let (database, waiting) = (bench.database, bench.waiting)
        let item = PushIntake<Int>.Item(
            .push(
                ReceivedPush(desktop: "d", notification: Notification(id: "b", title: "b", createdAt: 1, receivedAt: 1))
            ))
        database.submit { connection throws(StoreError) in
            bench.isHeldUp.store(true, ordering: .relaxed)
            // Stored between the take's look at what to offer and the commit of that.
            let deadline = ContinuousClock.now + .seconds(10)
            while database.waiting == 0, ContinuousClock.now < deadline { usleep(1_000) }
            let host = waiting.place
            return try PushIntake(connection).take([item], hostTakes: host.hostTakes, hostHasSeen: host.hostHasSeen)
                .waiting
        } then: { result in
            if case .success(let new) = result { waiting.stored(new) }
        }
        try await until("the store's thread works") { bench.isHeldUp.load(ordering: .relaxed) }
        let taken = try bench.take()
        let offered = try bench.marks.offered
        #expect(taken.allSatisfy { $0.row <= offered })
        #expect(ids(taken) == ["a"])
        #expect(try ids(bench.take()) == ["b"])
        let again = try Bench(bench.database)
        #expect(try again.take().allSatisfy { $0.event.data["redelivered"] == true })
    }

    @Test("after a death what a callback may have seen says so; after a clean end nothing does")
    func redelivered() throws {
        var bench = try Bench()
        #expect(try bench.take().isEmpty)
        try bench.store(["a", "b"])
        _ = try bench.take(1)
        bench = try Bench(bench.database)
        try bench.store(["c"])
        let events = try bench.take()
        #expect(ids(events) == ["a", "b", "c"])
        #expect(events.map { $0.event.data["redelivered"] != nil } == [true, true, false])
        try bench.waiting.finish(handed: [events[0].row], untouched: [events[1].row, events[2].row])
        // A clean end: what came with that word keeps it, and nothing else gets it.
        try bench.store(["d"])
        let ending = bench.waiting
        try bench.database.run { connection throws(StoreError) in try ending.withdrawOffer(connection) }
        bench = try Bench(bench.database)
        #expect(try bench.take().map { $0.event.data["redelivered"] != nil } == [true, false, false])
    }

    @Test("after a death only what a callback was about to see says so, as far as the file beside the store knows")
    func redeliveredByMark() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "handed-\(UUID())").path
        defer { unlink(path) }
        var bench = try Bench(mark: HandoverMark(path: path))
        #expect(try bench.take().isEmpty)
        try bench.store(["a", "b", "c", "d"])
        let first = try bench.take()
        #expect(try bench.marks.offered == 4)
        bench.waiting.willHandOver(first[0].row)
        bench.waiting.willHandOver(first[1].row)
        bench = try Bench(bench.database, mark: HandoverMark(path: path))
        let events = try bench.take()
        #expect(events.map { $0.event.data["redelivered"] != nil } == [true, true, false, false])
        // The next death, before any callback of this run.
        bench = try Bench(bench.database, mark: HandoverMark(path: path))
        #expect(try bench.take().map { $0.event.data["redelivered"] != nil } == [true, true, false, false])
    }

    @Test("what was handed over and could not be marked comes again and says so; the rest as if never taken")
    func restored() throws {
        let bench = try Bench()
        try bench.store(["a", "b", "c"])
        let events = try bench.take()
        try bench.waiting.restore(untouched: [events[2].row])
        let again = try bench.take()
        #expect(ids(again) == ["a", "b", "c"])
        #expect(again.map { $0.event.data["redelivered"] != nil } == [true, true, false])
    }

    @Test("before a callback sees more than was offered, that is committed")
    func offers() throws {
        let bench = try Bench()
        try bench.store((1...400).map { "n\($0)" })
        #expect(try bench.marks.offered == 0, "nobody has taken anything")
        let events = try bench.take()
        #expect(try bench.marks.offered == Inbox.offeredLimit)
        try bench.waiting.finish(handed: events.map(\.row), untouched: [])
        #expect(try bench.marks.offered == 64 + Inbox.offeredLimit)
    }

    // MARK: Of a shared device

    /// A device that programs share, and the program that holds it.
    private func shared() throws -> (Bench, begin: () throws -> Void) {
        let database = try Database.open(
            path: ":memory:", migrations: Inbox.migrations
        ).database
        let last = try database.run { connection throws(StoreError) in
            _ = try InboxPrograms(connection).join("a", seen: 0)
            return try Inbox(connection).handover.watermarks().last
        }
        let bench = Bench(database, WaitingPushes(shared: database, last: last))
        return (
            bench,
            {
                let marks = try database.run { connection throws(StoreError) in
                    try InboxFeed(handoverPath: nil).begin("a", connection)
                }
                bench.waiting.begin(as: "a", try #require(marks))
            }
        )
    }

    private func programMarks(_ bench: Bench) throws -> InboxPrograms.Marks? {
        try bench.database.run { connection throws(StoreError) in try InboxPrograms(connection).marks("a") }
    }

    @Test("the program that holds a shared device takes the same pushes from memory, by its own mark")
    func sharedInOrder() throws {
        let (bench, begin) = try shared()
        try bench.store(["a"])
        #expect(!bench.waiting.isInUse)
        try begin()
        #expect(bench.waiting.isInUse)
        try bench.store(["b"], isTold: false)
        try bench.store(["c", "d"])
        let events = try bench.take(3)
        #expect(ids(events) == ["a", "b", "c"])
        #expect(try bench.marks.handed == 4, "nothing waits for a program that has the device to itself")
        try bench.waiting.finish(handed: [events[0].row, events[1].row], untouched: [events[2].row])
        #expect(try programMarks(bench)?.handed == 2)
        #expect(try ids(bench.take()) == ["c", "d"])
        #expect(try bench.take().isEmpty)
    }

    @Test("of a shared device each push that replaces another comes after it, from memory and from the table")
    func sharedReplaced() throws {
        let (bench, begin) = try shared()
        try bench.store(["a", "b"], key: "k")
        try begin()
        try bench.store(["c"], key: "k")
        let events = try bench.take()
        #expect(ids(events) == ["a", "b", "c"])
        #expect(events.map { $0.event.data["replaces"] } == [nil, "a", "b"])
    }

    @Test("pushes that were dropped are not taken from memory either, and the program hears how many there were")
    func sharedDropped() throws {
        let (bench, begin) = try shared()
        try begin()
        let capacity = Int(InboxPrograms.capacity)
        var made = 0
        func store(_ count: Int) throws {
            try bench.store((made..<made + count).map { "n\($0)" })
            made += count
        }
        while made < capacity { try store(500) }
        #expect(try bench.waiting.takeDropped() == 0)
        try store(7)
        #expect(try bench.waiting.takeDropped() == 7)
        var seen: [String] = []
        while case let events = try bench.take(), !events.isEmpty {
            seen += ids(events)
            try bench.waiting.finish(handed: events.map(\.row), untouched: [])
        }
        #expect(seen == (7..<made).map { "n\($0)" })
        #expect(try bench.waiting.takeDropped() == 0)
    }
}
