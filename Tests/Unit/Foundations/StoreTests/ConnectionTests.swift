import CSQLite
import Testing

@testable import Store

@Suite struct ConnectionTests {
    private func connection() throws -> Connection {
        let connection = try Connection(path: ":memory:")
        try connection.executeScript("CREATE TABLE t (i INTEGER, r REAL, x TEXT, b BLOB) STRICT")
        return connection
    }

    @Test("every type comes back as it was bound, the empty and the odd included")
    func roundTrip() throws {
        let connection = try connection()
        let texts = ["", "ü€😀", "a\u{0}b", "'; DROP TABLE t; --"]
        for text in texts {
            try connection.execute("DELETE FROM t")
            try connection.execute(
                "INSERT INTO t VALUES (?, ?, ?, ?)", [.integer(Int64.min), 0.5, .text(text), .blob(Array(text.utf8))])
            let row = try connection.first("SELECT i, r, x, b FROM t") { (row) throws(StoreError) in
                (try row.integer(0), try row.real(1), try row.text(2), try row.blob(3))
            }
            #expect(row?.0 == Int64.min)
            #expect(row?.1 == 0.5)
            #expect(row?.2 == text)
            #expect(row?.3 == Array(text.utf8))
        }
    }

    @Test("NULL and other types are named, never guessed")
    func mismatch() throws {
        let connection = try connection()
        try connection.execute("INSERT INTO t(i) VALUES (7)")
        func read<T>(_ read: (borrowing Row) throws(StoreError) -> T) -> Result<T?, StoreError> {
            do throws(StoreError) { return .success(try connection.first("SELECT i, x FROM t", [], read)) } catch {
                return .failure(error)
            }
        }
        #expect(read { (row) throws(StoreError) in try row.text(0) }.code == .mismatch)
        #expect(read { (row) throws(StoreError) in try row.text(1) }.code == .mismatch)
        #expect(read { (row) throws(StoreError) in try row.integer(2) }.code == .mismatch)
        #expect(read { (row) throws(StoreError) in try row.integer(-1) }.code == .mismatch)
        #expect(try read { (row) throws(StoreError) in try row.optionalText(1) }.get() == .some(nil))
        #expect(try read { (row) throws(StoreError) in try row.optionalInteger(0) }.get() == 7)
    }

    @Test("too few or too many values are refused")
    func bindingCount() throws {
        let connection = try connection()
        for values: [Value] in [[], [1, 2]] {
            #expect(throws: StoreError.self) { try connection.execute("INSERT INTO t(i) VALUES (?)", values) }
        }
    }

    @Test("changes are those of the statement itself")
    func changes() throws {
        let connection = try connection()
        #expect(try connection.execute("INSERT INTO t(i) VALUES (1), (2), (3)") == 3)
        #expect(try connection.execute("UPDATE t SET i = 9 WHERE i = 77") == 0)
        #expect(try connection.execute("CREATE TABLE u (i INTEGER)") == 0)
        #expect(try connection.execute("DELETE FROM t WHERE i > 1") == 2)
    }

    @Test("the same SQL inside its own loop has a statement of its own")
    func nested() throws {
        let connection = try connection()
        try connection.execute("INSERT INTO t(i) VALUES (1), (2)")
        let sql = "SELECT i FROM t ORDER BY i"
        let pairs = try connection.query(sql) { (outer) throws(StoreError) in
            let first = try outer.integer(0)
            return try connection.query(sql) { (inner) throws(StoreError) in [first, try inner.integer(0)] }
        }
        #expect(pairs.flatMap { $0 } == [[1, 1], [1, 2], [2, 1], [2, 2]])
    }

    @Test("a statement that failed can be used again")
    func reuse() throws {
        let connection = try connection()
        try connection.executeScript("CREATE TABLE k (i INTEGER PRIMARY KEY) STRICT")
        let sql = "INSERT INTO k VALUES (?)"
        try connection.execute(sql, [1])
        #expect(throws: StoreError.self) { try connection.execute(sql, [1]) }
        try connection.execute(sql, [2])
        #expect(try connection.integer("SELECT count(*) FROM k") == 2)
    }

    @Test("many different texts do not fill the cache for ever")
    func cache() throws {
        let connection = try connection()
        for number in 0..<1_000 { #expect(try connection.integer("SELECT \(number)") == Int64(number)) }
    }

    @Test("a statement is prepared once, also beside a partial index that its values may or may not fit")
    func preparedOnce() throws {
        let connection = try connection()
        try connection.executeScript("CREATE INDEX positive ON t(i) WHERE i > 0")
        for low in 0..<10 {
            _ = try connection.integer("SELECT count(*) FROM t WHERE i > ? AND i > 0", [.integer(Int64(low))])
        }
        let statement = try #require(sqlite3_next_stmt(connection.handle, nil))
        #expect(sqlite3_next_stmt(connection.handle, statement) == nil)
        #expect(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_RUN, 0) == 10)
        #expect(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_REPREPARE, 0) == 0)
    }

    @Test("bad SQL says what is wrong with it")
    func badSQL() throws {
        let connection = try connection()
        let error = #expect(throws: StoreError.self) { try connection.execute("SELECT nothing FROM t") }
        #expect(error?.message.contains("nothing") == true)
        #expect(throws: StoreError.self) { try connection.execute("") }
    }
}
