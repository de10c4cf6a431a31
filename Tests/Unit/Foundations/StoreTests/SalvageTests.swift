import Glibc
import Testing

@testable import Store

/// What a new file takes over from a damaged one.
@Suite struct SalvageTests {
    private static let wide = Migration(
        "wide.1",
        sql: """
            CREATE TABLE entry (row INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
            CREATE TABLE pair (name TEXT NOT NULL, number INTEGER NOT NULL, text TEXT NOT NULL,
                PRIMARY KEY (name, number)) STRICT, WITHOUT ROWID;
            """)

    private func filled(_ scratch: Scratch, rows: Int = 400) throws {
        let database = try Database.open(path: scratch.path, migrations: [Self.wide]).database
        try database.run { (connection) throws(StoreError) in
            for row in 1...rows {
                let text = Value.text(String(repeating: "\(row) ", count: 60))
                try connection.execute("INSERT INTO entry VALUES (?, ?)", [.integer(row), text])
                try connection.execute("INSERT INTO pair VALUES ('p', ?, ?)", [.integer(row), text])
            }
        }
        database.close()
    }

    private func open(_ scratch: Scratch, isDamaged: Bool = false) throws -> Database.Opened {
        try Database.open(
            path: scratch.path, migrations: [Self.wide], salvaging: ["entry", "pair", "none"], isDamaged: isDamaged)
    }

    /// The rows that are left, all with the text that they had.
    private func rows(_ table: String, _ column: String, _ database: Database) throws -> [Int64] {
        let sql = "SELECT \(column), text FROM \(table) ORDER BY 1"
        let rows = try database.run { (connection) throws(StoreError) in
            try connection.query(sql) { (row) throws(StoreError) in (try row.integer(0), try row.text(1)) }
        }
        for (number, text) in rows { #expect(text == String(repeating: "\(number) ", count: 60)) }
        return rows.map(\.0)
    }

    @Test("every page but the first, lost one at a time: the rows on all others are there")
    func pages() throws {
        let whole = try Scratch()
        try filled(whole)
        let bytes = try whole.read(whole.path)
        var (leaves, inner) = (0, 0)
        for page in 1..<(bytes.count / 4_096) {
            let scratch = try Scratch()
            try scratch.write(bytes, to: scratch.path)
            try scratch.write([UInt8](repeating: 0xAA, count: 4_096), to: scratch.path, at: page * 4_096)
            let opened = try open(scratch)
            let (entries, pairs) = (
                try rows("entry", "row", opened.database), try rows("pair", "number", opened.database)
            )
            guard let damage = opened.damage else {
                #expect(entries.count == 400 && pairs.count == 400, "page \(page) is of no table")
                opened.database.close()
                continue
            }
            leaves += 1
            // Of the two tables one is whole; a leaf has about a dozen rows.
            #expect(max(entries.count, pairs.count) == 400)
            #expect(damage.salvaged == entries.count + pairs.count)
            let isWhole = min(entries.count, pairs.count) == 400
            #expect(damage.incomplete.contains("none") && damage.incomplete.count == (isWhole ? 1 : 2))
            if min(entries.count, pairs.count) < 370 { inner += 1 }
            #expect(try scratch.read(damage.movedAside).count == bytes.count)
            opened.database.close()
            #expect(try open(scratch).damage == nil)
        }
        // Two roots, and two pages below that of the wider rows.
        #expect(leaves > 50 && inner <= 4)
    }

    @Test("the log of a damaged file is read, too, and neither is changed")
    func log() throws {
        let (scratch, copy) = (try Scratch(), try Scratch())
        try filled(scratch)
        let database = try Database.open(path: scratch.path, migrations: [Self.wide]).database
        try database.run { (connection) throws(StoreError) in
            try connection.execute("UPDATE entry SET text = 'new' WHERE row = 1")
        }
        for suffix in ["", "-wal"] { try copy.write(try scratch.read(scratch.path + suffix), to: copy.path + suffix) }
        database.close()
        let before = try copy.read(copy.path + "-wal")
        let opened = try open(copy, isDamaged: true)
        let text = try opened.database.run { (connection) throws(StoreError) in
            try connection.first("SELECT text FROM entry WHERE row = 1") { (row) throws(StoreError) in try row.text(0) }
        }
        #expect(text == "new")
        #expect(try copy.read(try #require(opened.movedAside) + "-wal") == before)
    }

    @Test("a process that died between moving the old file and naming the new one finds that again")
    func interrupted() throws {
        let scratch = try Scratch()
        try filled(scratch, rows: 5)
        rename(scratch.path, scratch.path + ".repaired")
        let opened = try open(scratch)
        #expect(try rows("entry", "row", opened.database) == [1, 2, 3, 4, 5])
        opened.database.close()
        #expect(scratch.names == ["test.db"])
        // One that died before that begins again.
        try scratch.write([1, 2, 3], to: scratch.path + ".repaired")
        try scratch.write([1, 2, 3], to: scratch.path + ".repair")
        let again = try open(scratch, isDamaged: true)
        #expect(try rows("entry", "row", again.database) == [1, 2, 3, 4, 5])
        again.database.close()
        #expect(scratch.names.filter { !$0.contains("damaged") } == ["test.db"])
    }
}

/// What an observer hears of transactions.
@Suite struct CommitObserverTests {
    private final class Recording: CommitObserver, @unchecked Sendable {
        var isBehind = false
        var refuses = false
        var heard: [String] = []

        func follows(_ table: String, column: String?) -> Bool { table == "number" && column != "value" }

        func opened(_ connection: Connection, damage: DatabaseDamage?) { heard.append("opened") }

        func willCommit(_ connection: Connection) throws(StoreError) {
            heard.append("will \(try connection.integer("SELECT count(*) FROM number"))")
            if refuses { throw StoreError(.ioError, "refused") }
        }

        func ended(committed: Bool) { heard.append(committed ? "committed" : "rolled back") }
    }

    @Test("it hears of changes of its columns alone, before and after the commit; an error of its rolls back")
    func heard() throws {
        let observer = Recording()
        let other = Migration("other.1", sql: "CREATE TABLE other (value INTEGER NOT NULL) STRICT")
        let database = try Database.open(
            path: ":memory:", migrations: [.numbers, other], observer: observer
        ).database
        func run(_ sql: String) throws {
            try database.run { (connection) throws(StoreError) in _ = try connection.execute(sql) }
        }
        func expect(_ heard: [String], _ sql: String, _ location: SourceLocation = #_sourceLocation) {
            observer.heard = []
            try? run(sql)
            #expect(observer.heard == heard, sourceLocation: location)
        }
        #expect(observer.heard == ["opened"])
        expect([], "INSERT INTO other VALUES (1)")
        expect([], "SELECT value FROM number")
        for value in 1...2 { expect(["will \(value)", "committed"], "INSERT INTO number(value) VALUES (\(value))") }
        // From the cache of statements, too.
        expect(["will 2", "committed"], "UPDATE number SET note = 'a'")
        expect(["will 2", "committed"], "UPDATE number SET note = 'a'")
        expect([], "UPDATE number SET value = value")
        expect([], "UPDATE number SET note = 'b' WHERE value = 3")
        expect(["will 1", "committed"], "DELETE FROM number WHERE value = 2")
        expect(["rolled back"], "INSERT INTO number(value) VALUES (1)")
        observer.refuses = true
        expect(["will 2", "rolled back"], "INSERT INTO number(value) VALUES (3)")
        observer.refuses = false
        #expect(try database.all() == [1])
        observer.isBehind = true
        expect(["will 1", "committed"], "INSERT INTO other VALUES (1)")
    }
}
