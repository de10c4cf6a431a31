import CSQLite
import Foundation
import Hosting
import JSON
import Notifications
import Sealing
import Sharing
import Store
import Testing

@testable import Device
@testable import Inbox

/// A shared device's file, as the last version that kept a copy of each push for the programs left it: killed while three
/// programs were known.
///
/// `here` has had p1 to p5; p6 and p7 came before it dispatched again. `away` was closed after p1. `crashed` died in the
/// callback of p4. p4 replaced p3, and the user has deleted p2. `Fixtures/shared-copies.sql` is sqlite3's `.dump` of it.
@Suite final class InboxFeedMigrationTests {
    private let path = NSTemporaryDirectory() + "bellwire-feed-\(UUID()).db"
    private let feed = InboxFeed(handoverPath: nil)

    deinit { for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) } }

    /// - Parameter change: made to the old file first.
    private func open(_ change: String = "") throws -> Database {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let dump = try String(contentsOf: folder.appending(path: "Fixtures/shared-copies.sql"), encoding: .utf8)
        var raw: OpaquePointer?
        #expect(sqlite3_open(path, &raw) == SQLITE_OK)
        #expect(sqlite3_exec(raw, dump, nil, nil, nil) == SQLITE_OK)
        #expect(sqlite3_exec(raw, change, nil, nil, nil) == SQLITE_OK, "\(change)")
        sqlite3_close(raw)
        return try Database.open(path: path, migrations: SealStates.migrations + DeviceSwitchboard.migrations).database
    }

    private func take(_ name: String, _ database: Database) throws -> [WaitingEvent] {
        try database.run { [feed] (connection) throws(StoreError) in
            var size = FeedBatch.Size()
            return try feed.take("org.example.\(name)", limit: 100, &size, connection)
        }
    }

    private func titles(_ events: [WaitingEvent]) -> [String] { events.compactMap { $0.event.data["title"]?.string } }

    @Test("every program gets what it has not had, in order; what was deleted or replaced is gone after that")
    func events() throws {
        let database = try open()
        #expect(try titles(take("here", database)) == ["p6", "p7"])
        #expect(try titles(take("away", database)) == ["p2", "p3", "p4", "p5", "p6", "p7"])
        let crashed = try take("crashed", database)
        #expect(titles(crashed) == ["p4", "p5", "p6", "p7"])

        let all = try take("away", database).map(\.event)
        #expect(all[2].name == .notificationUpdated && all[2].data["replaces"] == all[1].data["id"])
        #expect(all[3].data["priority"] == "urgent" && all[3].data["data"] == ["n": 5])
        #expect(all[0].data["body"] == "body of p2" && all[0].data["redelivered"] == nil)
        #expect(Set(all.map(\.desktop)).count == 1)

        func count(_ condition: String) throws -> Int64 {
            try database.run { (connection) throws(StoreError) in
                try connection.integer("SELECT count(*) FROM inbox WHERE \(condition)")
            }
        }
        #expect(try count("hidden = 0") == 5 && count("hidden = 2") == 2)
        try database.run { [feed] (connection) throws(StoreError) in
            #expect(try !Inbox(connection).counts.repair(), "the counts are right")
            for name in ["here", "away", "crashed"] {
                try feed.finish("org.example.\(name)", through: .max, connection)
            }
        }
        #expect(try count("true") == 5 && count("hidden = 2") == 0)
        #expect(
            try database.run { (connection) throws(StoreError) in
                try connection.integer("SELECT count(*) FROM shared_event")
            } == 0)
    }

    @Test("a callback that had begun counts as one that may have seen its push")
    func offered() throws {
        let database = try open()
        let marks = try database.run { [feed] (connection) throws(StoreError) in
            try feed.begin("org.example.crashed", connection)
        }
        let crashed = try #require(marks)
        let p4 = try #require(try take("crashed", database).first).row
        #expect(crashed.handed == p4 - 1 && crashed.offered == p4)
    }

    @Test("pushes that wait for a program that has the device to itself still do, behind the others")
    func waiting() throws {
        let database = try open(
            """
            UPDATE inbox_host SET handed = 6, offered = 7, waiting = 1;
            DELETE FROM shared_event WHERE row = 7;
            """)
        let (marks, waiting) = try database.run { (connection) throws(StoreError) in
            let handover = HostHandover(connection)
            let marks = try handover.watermarks()
            return (marks, try Inbox(connection).pushes(after: marks.handed, limit: 9))
        }
        #expect(waiting.map(\.notification.title) == ["p7"] && marks.waiting == 1)
        #expect(marks.offered == marks.last && waiting.first?.arrival == marks.last)
        #expect(try titles(take("here", database)) == ["p6", "p7"])
    }

    @Test("without a program nothing is left over, and nothing changes for the host")
    func noProgram() throws {
        let database = try open("DELETE FROM application; DELETE FROM application_mark;")
        let marks = try database.run { (connection) throws(StoreError) in try HostHandover(connection).watermarks() }
        #expect(marks == Inbox.Watermarks(last: 7, handed: 7, offered: 7, waiting: 0))
    }

    @Test(
        "what a damaged file can say ends no process",
        arguments: [
            "UPDATE inbox_host SET last = 9223372036854775807",
            "UPDATE inbox_host SET last = -9223372036854775808, handed = 9223372036854775807",
            "UPDATE application_mark SET handed = -9223372036854775808, offered = 9223372036854775807",
            "UPDATE shared_event SET data = 'no JSON' WHERE row = 3",
            "UPDATE shared_event SET data = '{\"id\":\"x\",\"title\":\"t\",\"createdAt\":1e300,\"replaces\":7}', desktop = NULL",
        ])
    func damage(_ change: String) throws {
        do {
            let database = try open(change)
            for name in ["here", "away", "crashed"] { _ = try take(name, database) }
        } catch let error as StoreError {
            #expect(error.code == .mismatch)
        }
    }
}
