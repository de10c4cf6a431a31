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

    init(isEmpty: Bool = false) throws {
        guard !isEmpty else { return }
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
            "SELECT * FROM history_tally WHERE n <> 0 ORDER BY 1, 2, 3, 4",
            "SELECT * FROM history_gone ORDER BY row", "SELECT * FROM setting ORDER BY name",
            "SELECT * FROM allowance ORDER BY device", "SELECT * FROM skill_off",
            "SELECT row, device, id, method, answered_at, result, open FROM command_answer ORDER BY row",
            "SELECT row, id, payload FROM outbox_push ORDER BY row",
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

    @Test("counts and numbers go on: no row number comes again")
    func numbers() throws {
        let before = try old.rows(
            "SELECT seq, total, unread FROM sqlite_sequence, history_count WHERE name = 'history'")
        try old.open().close()
        #expect(try old.rows("SELECT last, total, unread FROM push_count WHERE peer = 0") == before)
        #expect(try old.rows("SELECT count(*) FROM sqlite_sequence WHERE name = 'history'") == ["0"])
        let database = try old.open()
        defer { database.close() }
        try database.run { connection throws(StoreError) in
            try connection.execute("DELETE FROM history WHERE row > 280")
            try History(connection).insert(
                Notification(id: "new", title: "T", createdAt: 1, receivedAt: 1), icon: nil, target: nil)
            #expect(try connection.integer("SELECT row FROM history WHERE id = 'new'") == 291)
        }
    }

    @Test("entries that refer to the history are found by it: withdrawn, copied, read")
    func references() throws {
        let migrations = History.migrations
        let file = try OldFile(isEmpty: true)
        let released = try Database.open(
            path: file.path, migrations: Array(migrations.prefix { $0.name != "history.4" })
        ).database
        try released.run { connection throws(StoreError) in
            try connection.executeScript(
                """
                INSERT INTO peer VALUES (1, 'did:key:a'), (2, 'did:key:b');
                INSERT INTO history (id, title, body, priority, source, created_at, received_at, silenced, late, read)
                    WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5)
                    SELECT 'n' || i, 'T', '', 1, 'pc', i, i, 0, 0, 0 FROM n;
                UPDATE history_count SET total = 5, unread = 5;
                INSERT INTO history_tally VALUES (0, 'pc', 1, 0, 5);
                INSERT INTO outbox_push VALUES (1, 'old',
                    '{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"old","title":"T"}}');
                INSERT INTO outbox_device VALUES (1, 13, 9), (2, 23, 20);
                INSERT INTO outbox VALUES (1, 10, -1, 9000000000000, NULL), (1, 11, 2, 9000000000000, NULL),
                    (1, 12, 3, 9000000000000, NULL), (1, 13, 4, 9000000000000, NULL),
                    (2, 21, 3, 9000000000000, NULL), (2, 22, 4, 9000000000000, NULL), (2, 23, 5, 9000000000000, NULL);
                """)
        }
        released.close()
        let database = try Database.open(path: file.path, migrations: migrations).database
        defer { database.close() }
        func ids(_ device: PeerID) throws -> [String] {
            try database.run { connection throws(StoreError) in
                try Outbox(connection).page(of: device, from: 1, through: 100, now: ExpiryMoment(0)).entries
                    .map { "\($0.seq) \($0.event.id.text)" }
            }
        }
        let (first, second): (PeerID, PeerID) = ("did:key:a", "did:key:b")
        #expect(try ids(first) == ["10 old", "11 n2", "12 n3", "13 n4"])
        #expect(try ids(second) == ["21 n3", "22 n4", "23 n5"])
        try database.run { connection throws(StoreError) in
            let outbox = Outbox(connection)
            #expect(try !HistoryCounts(connection).repair())
            #expect(try outbox.entry(of: "n4", for: first, now: ExpiryMoment(0))?.seq == 13)
            #expect(try outbox.entry(of: "old", for: first, now: ExpiryMoment(0))?.seq == 10)
            #expect(try outbox.entry(of: "n5", for: first, now: ExpiryMoment(0)) == nil)
            try outbox.withdraw("n3")
            var settings = DesktopSettings()
            (settings.retentionRows, settings.retentionDays) = (1, 0)
            #expect(try History(connection).prune(settings, now: 10) == 4)
        }
        #expect(try ids(first) == ["10 old", "11 n2", "13 n4"])
        #expect(try ids(second) == ["22 n4", "23 n5"])
        try database.run { connection throws(StoreError) in
            #expect(try connection.integer("SELECT count(*) FROM outbox_push") == 3)
            try Outbox(connection).settle(through: 100, by: first)
            try Outbox(connection).withdraw("n4")
            #expect(try connection.integer("SELECT count(*) FROM outbox_push") == 0)
        }
        #expect(try ids(second) == ["23 n5"])
    }

    @Test("what is counted on keeps its place: withdrawn by its new number")
    func recounted() throws {
        let database = try old.open()
        defer { database.close() }
        try database.run { connection throws(StoreError) in
            let device: PeerID = "did:key:c"
            let outbox = Outbox(connection)
            let work = HistoryWork(connection)
            let event = NotificationEvent(id: "new", title: "T")
            let row = try work.insert(
                Notification(id: "new", title: "T", createdAt: 1, receivedAt: 1), icon: nil, target: nil, pruning: 0)
            _ = try work.enqueue(event, row: row, to: [.init(device, isSealed: true)], now: 0)
            try work.finish()
            #expect(try outbox.recount(after: 500, by: device).last == 501)
            #expect(try outbox.entry(of: "new", for: device, now: ExpiryMoment(0))?.seq == 501)
            try outbox.withdraw("new")
            #expect(try outbox.entry(of: "new", for: device, now: ExpiryMoment(0)) == nil)
        }
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
