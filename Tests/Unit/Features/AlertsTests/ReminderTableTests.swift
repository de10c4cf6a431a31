import Alerts
import Calendar
import Foundation
import JSON
import Store
import Testing
import Wire

@Suite struct ReminderTableTests {
    private let start = utc("2026-06-01T12:00:00")
    private let daily: JSONValue = ["type": "calendar", "hour": 9, "repeats": true]

    private func open(_ path: String = ":memory:") throws -> Database {
        try Database.open(path: path, migrations: ReminderTable.migrations).database
    }

    private func save(_ change: ReminderSchedule.Change?, in database: Database) throws {
        let change = try #require(change)
        try database.run { (connection) throws(StoreError) in try ReminderTable(connection).save(change) }
    }

    private func load(_ database: Database) throws -> ReminderSchedule {
        try database.run { (connection) throws(StoreError) in ReminderSchedule(try ReminderTable(connection).all()) }
    }

    @Test("what was due while nothing ran comes at the next start, once and late; the rest is as it was")
    func restart() throws {
        let path = NSTemporaryDirectory() + "bellwire-reminders-\(UUID().uuidString).db"
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
        var database = try open(path)
        var schedule = ReminderSchedule()
        let place: JSONValue = [
            "type": "region", "latitude": 1.25, "longitude": -179.99, "radius_m": 99.5, "on": "exit", "repeats": true,
        ]
        for (id, trigger) in [
            ("soon", ["type": "interval", "seconds": 600]), ("daily", daily), ("place", place), ("now", nil),
            ("moment", ["type": "moment", "at": .integer(utc("2030-01-01T00:00:00"))]),
        ] as [(String, JSONValue?)] {
            try save(schedule.add(try reminder(id, trigger, at: start)), in: database)
        }
        let there = try Position(latitude: 1.25, longitude: 180)
        try save(schedule.moved(to: there, at: start, in: greenwich), in: database)
        try save(schedule.passed(start, in: greenwich), in: database)
        database.close()

        database = try open(path)
        var loaded = try load(database)
        #expect(loaded == schedule && loaded["place"]?.side == .outside && loaded.count == 4)
        let morning = utc("2026-06-03T09:00:30")
        let change = loaded.passed(morning, isStart: true, in: greenwich)
        #expect(change.firings.map(\.reminder.id) == ["soon", "daily"])
        #expect(change.firings.map(\.isLate) == [true, false])
        try save(change, in: database)
        database.close()

        // Once: not again at the start after it.
        database = try open(path)
        defer { database.close() }
        var again = try load(database)
        #expect(again == loaded && again.passed(morning, isStart: true, in: greenwich).isEmpty)
        #expect(again.list.map(\.id) == ["daily", "moment", "place"])
        #expect(again["daily"]?.lastAt == utc("2026-06-03T09:00:00"))
    }

    @Test("what could not be written comes again: nothing is lost with a transaction that failed")
    func rollback() throws {
        struct Failed: Error {}
        let database = try open()
        defer { database.close() }
        var schedule = ReminderSchedule()
        try save(schedule.add(try reminder("r", nil, at: start)), in: database)
        var copy = schedule
        let change = copy.passed(start, in: greenwich)
        #expect(throws: StoreError.self) {
            try database.run { (connection) throws(StoreError) in
                try ReminderTable(connection).save(change)
                throw StoreError(.full, "the disk is full")
            }
        }
        #expect(try load(database) == schedule)
        #expect(schedule.passed(start, in: greenwich) == change)
    }

    @Test("replacing keeps the place, removing takes the row out; hostile texts are texts")
    func writes() throws {
        let database = try open()
        defer { database.close() }
        var schedule = ReminderSchedule()
        let hostile = "'); DROP TABLE reminder; --\u{202e}\"\\ é\u{301}"
        try save(schedule.add(try reminder(hostile, daily, thread: hostile, at: start)), in: database)
        try save(schedule.add(try reminder("b", nil, at: start)), in: database)
        try save(schedule.add(try reminder(hostile, ["type": "calendar", "minute": 5], at: start)), in: database)
        #expect(try load(database) == schedule)
        #expect(try load(database).list.map(\.id) == ["b", AlertID(hostile)])
        try save(schedule.remove(AlertID(hostile)), in: database)
        #expect(try load(database).list.map(\.id) == ["b"])
        try save(schedule.removeAll(), in: database)
        #expect(try load(database).count == 0)
    }

    @Test("a row that cannot be read holds up nobody")
    func damaged() throws {
        let database = try open()
        defer { database.close() }
        var schedule = ReminderSchedule()
        try save(schedule.add(try reminder("good", daily, at: start)), in: database)
        let loaded = try database.run { (connection) throws(StoreError) in
            for (id, content, trigger, side) in [
                ("1", "no JSON {", #"{"type":"now"}"#, "unknown"), ("2", "{}", "no JSON", "unknown"),
                ("3", #"{"title":"T"}"#, #"{"type":"tide"}"#, "unknown"), ("4", "[]", #"{"type":"now"}"#, "unknown"),
                ("5", #"{"title":"T"}"#, #"{"type":"calendar","hour":99}"#, "unknown"),
                ("odd", #"{"title":"T"}"#, #"{"type":"now"}"#, "nowhere"),
            ] {
                try connection.execute(
                    "INSERT INTO reminder(id, content, trigger, added_at, next_at, side) VALUES (?, ?, ?, 1, ?, ?)",
                    [.text(id), .text(content), .text(trigger), .integer(Int64.min), .text(side)])
            }
            return try ReminderTable(connection).all()
        }
        #expect(loaded.map(\.id) == ["good", "odd"] && loaded[1].side == .unknown)
        var damaged = ReminderSchedule(loaded)
        #expect(damaged.passed(start, isStart: true, in: greenwich).firings.map(\.reminder.id) == ["odd"])
    }
}
