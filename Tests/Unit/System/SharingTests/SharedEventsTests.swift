import Hosting
import JSON
import Store
import Testing

@testable import Sharing

@Suite struct SharedEventsTests {
    private static let source = HostEvent.Name.notificationSilent
    private static let feed = SharedEvents(source)
    private let database: Database

    init() throws {
        database = try Database.open(path: ":memory:", migrations: Applications.migrations).database
    }

    private func work<T: Sendable>(
        _ body: @escaping @Sendable (Connection) throws(StoreError) -> T
    ) throws -> T {
        try database.run(body)
    }

    private func programs(_ body: @escaping @Sendable (Applications) throws(StoreError) -> Void) throws {
        try work { (connection) throws(StoreError) in try body(Applications(connection, [Self.source: Self.feed])) }
    }

    private func add(_ numbers: ClosedRange<Int64>, takers: [String] = []) throws {
        try work { (connection) throws(StoreError) in
            for number in numbers {
                try Self.feed.add(HostEvent(Self.source, data: ["n": .integer(number)]), connection)
            }
            try Self.feed.added(takers: takers, connection)
        }
    }

    private func register(_ name: String, now: Int64 = 0, handed: Int64? = nil) throws {
        try programs { (programs) throws(StoreError) in
            try programs.register(name, handed: handed.map { [Self.source: $0] } ?? [:], now: now)
        }
        _ = try work { (connection) throws(StoreError) in try Self.feed.join(name, connection) }
    }

    private func take(_ name: String, limit: Int = 100) throws -> [WaitingEvent] {
        try work { (connection) throws(StoreError) in
            var size = FeedBatch.Size()
            return try Self.feed.take(name, limit: limit, &size, connection)
        }
    }

    private func finish(_ name: String, through row: Int64) throws {
        try work { (connection) throws(StoreError) in try Self.feed.finish(name, through: row, connection) }
    }

    private func stored() throws -> Int64 {
        try database.run { (connection) throws(StoreError) in
            try connection.integer("SELECT count(*) FROM shared_event")
        }
    }

    @Test("Each program is given every event once, by its own mark; a new one from then on")
    func ownMarks() throws {
        try register("a")
        try add(1...3)
        try register("b")
        try add(4...5)
        #expect(try take("a").map { $0.event.data["n"]?.integer } == [1, 2, 3, 4, 5])
        #expect(try take("b").map { $0.event.data["n"]?.integer } == [4, 5])
        try finish("a", through: try #require(try take("a").last?.row))
        #expect(try take("a").isEmpty)
        #expect(try take("b").count == 2)
        // What all have had is deleted.
        #expect(try stored() == 2)
        try finish("b", through: try #require(try take("b").last?.row))
        #expect(try stored() == 0)
    }

    @Test("What callbacks may have seen is recorded before they do, and taken back at a clean end")
    func offered() throws {
        try register("a")
        try add(1...4)
        let rows = try take("a", limit: 2).map(\.row)
        let marks = try work { (connection) throws(StoreError) in try Self.feed.begin("a", connection) }
        #expect(marks?.offered == rows.last)
        try work { (connection) throws(StoreError) in try Self.feed.settle("a", seen: rows[0], connection) }
        let settled = try work { (connection) throws(StoreError) in try Self.feed.begin("a", connection) }
        #expect(settled?.offered == rows[0])
    }

    @Test("A batch ends before it is too large for the socket, and an event that is too large comes alone")
    func bytes() throws {
        try register("a")
        let half = String(repeating: "\u{1}", count: FeedBatch.maximumBytes / 12)
        let whole = half + half
        try work { (connection) throws(StoreError) in
            for text in [half, whole, half, ""] {
                try Self.feed.add(HostEvent(Self.source, data: ["text": .string(text)]), connection)
            }
        }
        var batches: [Int] = []
        while case let events = try take("a"), let last = events.last {
            batches.append(events.count)
            try finish("a", through: last.row)
        }
        #expect(batches == [1, 1, 2])
    }

    @Test("A mark never goes back, and a program's own memory moves it forward")
    func forward() throws {
        try register("a")
        try add(1...4)
        let rows = try take("a").map(\.row)
        try finish("a", through: rows[2])
        try finish("a", through: rows[0])
        #expect(try take("a").map(\.row) == [rows[3]])
        try register("a", handed: rows[3])
        #expect(try take("a").isEmpty)
        // Beyond what there is.
        try register("a", handed: .max)
        try add(5...5)
        #expect(try take("a").count == 1)
    }

    @Test("A program that was not seen for 30 days is forgotten; one that runs is not")
    func forgotten() throws {
        try register("old", now: 0)
        try register("here", now: 0)
        try add(1...2)
        let now = Applications.memory + 1
        try programs { (programs) throws(StoreError) in try programs.prune(running: ["here"], now: now) }
        #expect(try take("old").isEmpty)
        #expect(try take("here").count == 2)
        try finish("here", through: .max)
        #expect(try stored() == 0)
    }

    @Test("Events beyond the capacity are dropped, the oldest first, and the program is told")
    func capacity() throws {
        try register("a")
        try register("b")
        try add(1...3)
        try finish("b", through: .max)
        try add(4...(SharedEvents.capacity + 5))
        #expect(try stored() == SharedEvents.capacity)
        #expect(try dropped("a") == 5)
        #expect(try dropped("b") == 2)
        #expect(try dropped("a") == 0)
        #expect(try take("a", limit: 1).first?.event.data["n"]?.integer == 6)
        try add(1...2)
        #expect(try dropped("a") == 2)
    }

    private func dropped(_ name: String) throws -> Int64 {
        try work { (connection) throws(StoreError) in try Self.feed.takeDropped(name, connection) }
    }

    @Test("Copies are forgotten at once, and what was kept for them alone is deleted")
    func copies() throws {
        let (here, gone) = ("a/1", "a/2")
        try register("a")
        try register(here)
        try register(gone)
        try add(1...2)
        try finish("a", through: .max)
        try finish(here, through: .max)
        #expect(try stored() == 2)
        try programs { (programs) throws(StoreError) in try programs.forgetCopies(except: [here]) }
        #expect(try stored() == 0)
        try add(3...3)
        #expect(try take("a").count == 1)
        #expect(try take(here).count == 1)
        #expect(try take(gone).isEmpty)
    }

    @Test("A program that never wanted events holds none up")
    func unwanted() throws {
        let found = try work { (connection) throws(StoreError) in
            try Applications(connection, [Self.source: Self.feed]).register("a", now: 0)
            var found = [try Self.feed.isWanted(connection)]
            for name in ["a", "a", "b"] { found.append(try Self.feed.join(name, connection)) }
            return found + [try Self.feed.isWanted(connection)]
        }
        // Not wanted before the first; the second is no news, and "b" is not known.
        #expect(found == [false, true, false, false, true])
        try add(1...2)
        #expect(try take("a").count == 2)
        #expect(try take("b").isEmpty)
    }

    @Test("One program more than the limit is refused")
    func limit() throws {
        for number in 0..<Applications.limit { try register("program \(number)") }
        #expect(throws: StoreError.self) { try register("another") }
        try register("program 0")
    }

    @Test("numbers at either end of what a damaged file can say end no process", arguments: [Int64.max, .min])
    func extremes(number: Int64) throws {
        try register("one")
        try add(1...2)
        try database.run { (connection) throws(StoreError) in
            try connection.execute("UPDATE sqlite_sequence SET seq = ?", [.integer(number)])
            try connection.execute("UPDATE application_mark SET handed = ?1, offered = ?1", [.integer(number)])
        }
        try register("one", now: .min, handed: number)
        try register("two", now: .max)
        try programs { (programs) throws(StoreError) in try programs.prune(running: ["one"], now: .min) }
        _ = try take("one", limit: 10)
        // A number beyond all others can't be given out: the store is full, which is told.
        if number == .max { #expect(throws: StoreError.self) { try add(3...3) } } else { try add(3...3) }
    }
}
