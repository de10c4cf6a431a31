import Glibc
import Testing

@testable import Store

@Suite struct OpeningTests {
    @Test("what was written is there after closing and opening again")
    func durable() throws {
        let scratch = try Scratch()
        let first = try Database.open(path: scratch.path, migrations: [.numbers])
        #expect(first.movedAside == nil)
        try first.database.insert(7)
        first.database.close()
        let second = try Database.open(path: scratch.path, migrations: [.numbers])
        #expect(second.movedAside == nil)
        #expect(try second.database.all() == [7])
    }

    @Test("the file is its owner's alone, in WAL mode, synced at each commit")
    func settings() throws {
        let scratch = try Scratch()
        let database = try Database.numbers(scratch.path)
        try database.insert(1)
        var status = stat()
        #expect(stat(scratch.path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(stat(scratch.path + "-wal", &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        let settings = try database.run { connection throws(StoreError) in
            (
                try connection.first("PRAGMA journal_mode") { (row) throws(StoreError) in try row.text(0) },
                try connection.integer("PRAGMA synchronous"), try connection.integer("PRAGMA foreign_keys")
            )
        }
        #expect(settings.0 == "wal")
        #expect(settings.1 == 2)
        #expect(settings.2 == 1)
    }

    private func damaged(_ damage: (Scratch) throws -> Void) throws -> (
        scratch: Scratch, before: [UInt8], aside: String?
    ) {
        let scratch = try Scratch()
        let database = try Database.numbers(scratch.path)
        try database.insert(Array(0..<500))
        database.close()
        try damage(scratch)
        let before = try scratch.read(scratch.path)
        let opened = try Database.open(path: scratch.path, migrations: [.numbers])
        #expect(try opened.database.all() == [], "a new one was begun")
        try opened.database.insert(1)
        opened.database.close()
        return (scratch, before, opened.movedAside)
    }

    private func expectAside(_ result: (scratch: Scratch, before: [UInt8], aside: String?)) throws {
        let aside = try #require(result.aside)
        #expect(aside.hasPrefix(result.scratch.path + ".damaged-"))
        #expect(try result.scratch.read(aside) == result.before, "nothing is lost")
        #expect(try Database.numbers(result.scratch.path).all() == [1])
    }

    @Test("a file that is no database is moved aside, whole, and a new one is begun")
    func notADatabase() throws {
        try expectAside(damaged { try $0.write(Array("this is no database".utf8), to: $0.path, truncate: true) })
    }

    @Test("a half-written header is damage", arguments: [1, 16, 50, 99])
    func halfHeader(size: Int) throws {
        try expectAside(
            damaged { scratch in
                let whole = try scratch.read(scratch.path)
                try scratch.write(Array(whole.prefix(size)), to: scratch.path, truncate: true)
            })
    }

    @Test("a page in the middle that was overwritten is damage")
    func middle() throws {
        try expectAside(
            damaged { try $0.write([UInt8](repeating: 0xaa, count: 4_096), to: $0.path, at: 4_096) })
    }

    @Test("a file that ends too early is damage")
    func cut() throws {
        try expectAside(
            damaged { scratch in
                let whole = try scratch.read(scratch.path)
                try scratch.write(Array(whole.prefix(whole.count / 2)), to: scratch.path, truncate: true)
            })
    }

    @Test("the log goes aside with its file")
    func log() throws {
        let scratch = try Scratch()
        try scratch.write(Array("not a database at all, of some length".utf8), to: scratch.path)
        try scratch.write([1, 2, 3], to: scratch.path + "-wal")
        let opened = try Database.open(path: scratch.path, migrations: [.numbers])
        opened.database.close()
        let aside = try #require(opened.movedAside)
        #expect(try scratch.read(aside + "-wal") == [1, 2, 3])
        #expect(scratch.names.filter { !$0.contains("damaged") } == ["test.db"])
    }

    @Test("a log that was not folded in yet is kept beside its damaged file")
    func unfoldedLog() throws {
        let (scratch, copy) = (try Scratch(), try Scratch())
        let database = try Database.numbers(scratch.path)
        try database.insert(Array(0..<500))
        database.close()
        let again = try Database.numbers(scratch.path)
        try again.insert(500)
        for suffix in ["", "-wal"] { try copy.write(try scratch.read(scratch.path + suffix), to: copy.path + suffix) }
        try copy.write([UInt8](repeating: 0xaa, count: 4_096), to: copy.path, at: 8_192)
        let opened = try Database.open(path: copy.path, migrations: [.numbers])
        let aside = try #require(opened.movedAside)
        let (kept, log) = (try copy.read(aside + "-wal"), try scratch.read(scratch.path + "-wal"))
        #expect(kept == log)
        again.close()
    }

    @Test("damage that is met later is told, and the next opening checks the whole file")
    func suspect() throws {
        let scratch = try Scratch()
        DatabaseFile(path: scratch.path).markSuspect()
        #expect(scratch.names == ["test.db.suspect"])
        let opened = try Database.open(path: scratch.path, migrations: [.numbers])
        #expect(opened.movedAside == nil)
        try opened.database.insert(1)
        opened.database.close()
        DatabaseFile(path: scratch.path).markSuspect()
        let again = try Database.open(path: scratch.path, migrations: [.numbers])
        #expect(again.movedAside == nil)
        #expect(try again.database.all() == [1])
        #expect(!scratch.names.contains("test.db.suspect"))
    }

    /// A table whose index says another name for one of its rows. Each page of the file can be read.
    private func withBadIndex(padding: Int) throws -> Scratch {
        let scratch = try Scratch()
        let database = try Database.open(path: scratch.path, migrations: [.names]).database
        let place = try database.run { (connection) throws(StoreError) in
            for number in 100..<150 {
                try connection.execute("INSERT INTO name VALUES (?, ?)", [.integer(number), .text("name \(number)")])
            }
            try connection.execute("INSERT INTO padding VALUES (zeroblob(?))", [.integer(Int64(padding))])
            return try connection.integer("SELECT rootpage FROM sqlite_schema WHERE name = 'name_by_text'")
        }
        database.close()
        let page = Int(place - 1) * 4_096
        let bytes = try scratch.read(scratch.path)
        let name = Array("name 120".utf8)
        let at = try #require((page..<page + 4_096).first { bytes[$0...].starts(with: name) })
        try scratch.write(Array("name 12x".utf8), to: scratch.path, at: at)
        return scratch
    }

    @Test("an index that does not fit its table is damage")
    func badIndex() throws {
        let scratch = try withBadIndex(padding: 1)
        let opened = try Database.open(path: scratch.path, migrations: [.names])
        #expect(opened.movedAside != nil)
        opened.database.close()
    }

    @Test("the indexes of a large file are checked after damage was met in it")
    func badIndexOfLargeFile() throws {
        let scratch = try withBadIndex(padding: 5 << 20)
        let opened = try Database.open(path: scratch.path, migrations: [.names])
        #expect(opened.movedAside == nil)
        opened.database.close()
        DatabaseFile(path: scratch.path).markSuspect()
        let again = try Database.open(path: scratch.path, migrations: [.names])
        #expect(again.movedAside != nil)
        again.database.close()
    }

    @Test("a log that was not folded in, as after a kill, is no damage")
    func unclean() throws {
        let (scratch, copy) = (try Scratch(), try Scratch())
        let database = try Database.numbers(scratch.path)
        try database.insert(Array(0..<10))
        // What a kill would leave behind.
        for suffix in ["", "-wal"] {
            try copy.write(try scratch.read(scratch.path + suffix), to: copy.path + suffix)
        }
        let opened = try Database.open(path: copy.path, migrations: [.numbers])
        #expect(opened.movedAside == nil)
        #expect(try opened.database.all() == Array(0..<10))
    }

    @Test("a newer file is refused by name, and left as it is")
    func newer() throws {
        let scratch = try Scratch()
        let newer = try Database.open(
            path: scratch.path, migrations: [.numbers, Migration("numbers.2", sql: "CREATE TABLE later (x INTEGER)")])
        try newer.database.insert(7)
        newer.database.close()
        let before = try scratch.read(scratch.path)
        let error = #expect(throws: StoreError.self) { try Database.numbers(scratch.path) }
        #expect(error?.code == .newerSchema)
        #expect(try scratch.read(scratch.path) == before)
        #expect(scratch.names == ["test.db"])
    }

    @Test("another database in the place of a file is refused by name, and left as it is")
    func other() throws {
        let scratch = try Scratch()
        try Database.open(path: scratch.path, migrations: [Migration("letters.1", sql: "CREATE TABLE letter (x TEXT)")])
            .database.close()
        let before = try scratch.read(scratch.path)
        let error = #expect(throws: StoreError.self) { try Database.numbers(scratch.path) }
        #expect(error?.code == .otherSchema)
        #expect(error?.message.contains("letters.1") == true)
        #expect(try scratch.read(scratch.path) == before)
    }

    @Test("each step runs once, wherever it stands in the list; a step that fails undoes all of them")
    func migrations() throws {
        let scratch = try Scratch()
        try Database.numbers(scratch.path).close()
        let broken = [
            Migration.numbers, Migration("a", sql: "CREATE TABLE a (x INTEGER)"),
            Migration("b", sql: "CREATE nonsense"),
        ]
        #expect(throws: StoreError.self) { try Database.open(path: scratch.path, migrations: broken) }
        let fixed = [
            Migration("a", sql: "CREATE TABLE a (x INTEGER)"), Migration.numbers,
            Migration("b") { (connection) throws(StoreError) in try connection.execute("INSERT INTO a VALUES (1)") },
        ]
        for _ in 0..<2 {
            let database = try Database.open(path: scratch.path, migrations: fixed).database
            let rows = try database.run { (connection) throws(StoreError) in
                try connection.integer("SELECT count(*) FROM a")
            }
            #expect(rows == 1)
            database.close()
        }
    }

    @Test("a path that cannot be opened says why")
    func unopenable() throws {
        let scratch = try Scratch()
        for path in [scratch.directory, scratch.directory + "/none/test.db"] {
            let error = #expect(throws: StoreError.self) { try Database.numbers(path) }
            #expect(error?.code == .cannotOpen)
        }
    }

    @Test("two stores in memory have nothing to do with each other")
    func memory() throws {
        let (first, second) = (try Database.numbers(), try Database.numbers())
        try first.insert(1)
        #expect(try second.all() == [])
    }
}
