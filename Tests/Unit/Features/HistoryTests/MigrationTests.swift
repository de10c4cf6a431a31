import CSQLite
import Commands
import Delivery
import Glibc
@testable import History
import JSON
import Listing
import Notifications
import Store
import Testing
import Wire

/// A desktop's file as version 1 of its schema left it: read, unread, silenced and targeted notifications, texts that are
/// indexed, that are not yet, and that are gone; outboxes of three devices, with pushes that the history has let go;
/// settings, permissions and answers.
///
/// `Fixtures/history-1.sql` is sqlite3's `.dump` of a file that the code of that version has filled.
private final class OldFile {
    let path = "/tmp/bellwire-migration-\(getpid())-\(UInt64.random(in: 0 ... .max)).db"

    init() throws {
        let dump = try Self.dump()
        try withRaw { raw in #expect(sqlite3_exec(raw, dump, nil, nil, nil) == SQLITE_OK) }
    }

    deinit { for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) } }

    private static func dump() throws -> String {
        let folder = #filePath.split(separator: "/").dropLast().joined(separator: "/")
        let file = try #require(fopen("/\(folder)/Fixtures/history-1.sql", "r"))
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The file without the store's migrations.
    private func withRaw(_ use: (OpaquePointer) throws -> Void) throws {
        var raw: OpaquePointer?
        #expect(sqlite3_open(path, &raw) == SQLITE_OK)
        defer { sqlite3_close(raw) }
        try use(try #require(raw))
    }

    /// Each row as one text.
    func rows(_ sql: String) throws -> [String] {
        var rows: [String] = []
        try withRaw { raw in
            var statement: OpaquePointer?
            #expect(sqlite3_prepare_v2(raw, sql, -1, &statement, nil) == SQLITE_OK, "\(sql)")
            defer { sqlite3_finalize(statement) }
            while sqlite3_step(statement) == SQLITE_ROW {
                let columns = (0..<sqlite3_column_count(statement)).map { column in
                    sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "NULL"
                }
                rows.append(columns.joined(separator: "|"))
            }
        }
        return rows
    }

    func open() throws -> Database {
        try Database.open(path: path, migrations: History.migrations + AnswerTable.migrations).database
    }
}

@Suite struct MigrationTests {
    private let old: OldFile

    init() throws { old = try OldFile() }

    private let devices: [PeerID] = [
        "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
        "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp",
        "did:key:z6MkqYDbJ5yVgg5UVfRt5DAsk5dvPTgo6H9CZcenziWdHTqN",
    ]

    @Test(
        "rows that no migration touches are what they were",
        arguments: [
            "SELECT row, \(StoredNotification.columns), icon, target, search FROM history ORDER BY row",
            "SELECT * FROM history_count", "SELECT * FROM history_tally WHERE n <> 0 ORDER BY 1, 2, 3, 4",
            "SELECT * FROM history_gone ORDER BY row", "SELECT * FROM setting ORDER BY name",
            "SELECT * FROM allowance ORDER BY device", "SELECT * FROM skill_off",
            "SELECT row, device, id, method, answered_at, result, open FROM command_answer ORDER BY row",
            "SELECT row, id, payload FROM outbox_push ORDER BY row",
            "SELECT seq FROM sqlite_sequence WHERE name = 'history'",
        ])
    func unchanged(sql: String) throws {
        let before = try old.rows(sql)
        #expect(!before.isEmpty || sql.contains("skill_off"))
        try old.open().close()
        #expect(try old.rows(sql) == before)
        // Once more: nothing is done twice.
        try old.open().close()
        #expect(try old.rows(sql) == before)
    }

    @Test("every entry of every outbox is there, in order, with the push that it had")
    func outboxes() throws {
        let entries = try old.rows(
            """
            SELECT device, seq, outbox_push.id, expires_at FROM outbox JOIN outbox_push ON outbox_push.row = push
            ORDER BY device, seq
            """)
        let positions = try old.rows("SELECT device, last, acknowledged FROM outbox_device ORDER BY device")
        #expect(entries.count == 181)
        let database = try old.open()
        defer { database.close() }
        let devices = devices
        let found = try database.run { connection throws(StoreError) -> [String] in
            var found: [String] = []
            for device in devices {
                var from: Int64 = 1
                while from <= 300 {
                    let page = try Outbox(connection).page(of: device, from: from, through: 300, now: ExpiryMoment(0))
                    found += page.entries.map { "\(device.text)|\($0.seq)|\($0.event.id.text)" }
                    from = page.through + 1
                }
            }
            return found
        }
        #expect(found == entries.map { $0.split(separator: "|").dropLast().joined(separator: "|") })
        let after = try database.run { connection throws(StoreError) in try Outbox(connection).positions() }
        #expect(after.map { "\($0.text)|\($1.last)|\($1.acknowledged)" }.sorted() == positions)
    }

    @Test("the old entries end like new ones: acknowledged, replaced, withdrawn; no copy stays")
    func goingOn() throws {
        let database = try old.open()
        defer { database.close() }
        let devices = devices
        let left = try database.run { connection throws(StoreError) -> [Int64] in
            let outbox = Outbox(connection)
            let copies = "SELECT count(*) FROM outbox_push"
            var left = [try connection.integer(copies)]
            try outbox.withdraw("n289")
            left.append(try connection.integer(copies))
            var richer = RicherFields()
            richer.collapseKey = "key0"
            let event = NotificationEvent(id: "new", title: "T", richer: richer)
            _ = try outbox.enqueue(event, to: devices.map { .init($0, isSealed: true) }, now: 0)
            left.append(
                try connection.integer("SELECT count(*) FROM outbox WHERE collapse_key = 'key0'"))
            for device in devices { try outbox.settle(through: 1_000, by: device) }
            return left + [try connection.integer(copies), try connection.integer("SELECT count(*) FROM outbox")]
        }
        #expect(left == [101, 100, 3, 0, 0])
    }

    @Test("searches find what is there and nothing that is gone; the index is brought in order by steps")
    func search() throws {
        let present = try old.rows(
            "SELECT id FROM history WHERE title LIKE '%alpha%' OR body LIKE '%alpha%' ORDER BY row DESC")
        let database = try old.open()
        defer { database.close() }
        for steps in [0, 1, 1_000] {
            let page = try database.run { connection throws(StoreError) -> History.Page? in
                for _ in 0..<steps where try TextIndexer(History.text, connection).step() == .done { break }
                var query = HistoryQuery()
                query.query = "alpha"
                return try History(connection).page(query)
            }
            #expect(page?.notifications.map(\.id.text) == present)
            #expect(page?.total == Int64(present.count))
        }
        try database.run { connection throws(StoreError) in
            #expect(try TextIndexer(History.text, connection).isComplete())
            try connection.execute("INSERT INTO history_text(history_text, rank) VALUES ('integrity-check', 1)")
        }
    }

    @Test("counts that fit need no repair; new answers follow the old ones")
    func counts() throws {
        let database = try old.open()
        defer { database.close() }
        let device = devices[0]
        try database.run { connection throws(StoreError) in
            #expect(try !HistoryCounts(connection).repair())
            #expect(try HistoryCounts(connection).totals() == .init(total: 37, unread: 32))
            let answers = AnswerTable(connection)
            #expect(try answers.answer(to: .init(device: device, id: "r4", method: "m"))?.isOpen == true)
            try answers.closeAll()
            #expect(try answers.answer(to: .init(device: device, id: "r4", method: "m"))?.isOpen == false)
            try answers.keep([:], isOpen: false, to: .init(device: device, id: "new", method: "m"), now: 0)
            let newest = try connection.integer("SELECT number FROM command_answer WHERE id = 'new'")
            let others = try connection.integer(
                "SELECT count(*) FROM command_answer WHERE device = ? AND id <> 'new'", [.text(device.text)])
            #expect(newest == others + 1)
        }
    }
}
