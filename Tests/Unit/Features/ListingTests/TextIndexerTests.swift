@testable import Listing
import Store
import TestSupport
import Testing

/// A table with an index, as the history and the inbox have it.
private struct IndexedTable {
    static let index = TextIndex("note")

    let database: Database

    init(rows: Int = 0, through: Int64 = 0) throws {
        database = try Database.open(
            path: ":memory:",
            migrations: [
                Migration("note.1") { (connection) throws(StoreError) in
                    try connection.executeScript(
                        """
                        CREATE TABLE note (row INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL,
                            body TEXT NOT NULL, search TEXT) STRICT;
                        CREATE VIRTUAL TABLE note_text USING fts5(
                            title, body, search, content='note', content_rowid='row', prefix='2 3');
                        CREATE TABLE note_indexed (one INTEGER PRIMARY KEY, through INTEGER NOT NULL) STRICT;
                        INSERT INTO note_indexed VALUES (1, \(through));
                        CREATE TABLE note_gone (
                            row INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, search TEXT) STRICT;
                        WITH RECURSIVE n(i) AS (SELECT 1 WHERE \(rows) > 0
                            UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
                            INSERT INTO note(title, body) SELECT 'title' || i, 'all' FROM n;
                        INSERT INTO note_text(rowid, title, body) SELECT row, title, body FROM note
                            WHERE row <= \(through);
                        """)
                    try IndexedTable.index.adoptRanges(connection)
                }
            ]
        ).database
    }

    func insert(_ count: Int, _ word: String = "all") throws {
        try database.run { connection throws(StoreError) in
            for _ in 0..<count {
                try connection.execute("INSERT INTO note(title, body) VALUES ('x', ?)", [.text(word)])
            }
        }
    }

    func step() throws -> TextIndexer.Progress {
        try database.run { connection throws(StoreError) in try TextIndexer(Self.index, connection).step() }
    }

    func catchUp() throws -> Bool {
        try database.run { connection throws(StoreError) in try TextIndexer(Self.index, connection).catchUp() }
    }

    /// The rows that a search finds.
    func find(_ word: String) throws -> Set<Int64> {
        try database.run { connection throws(StoreError) in
            Set(
                try connection.query(
                    "SELECT rowid FROM note_text WHERE note_text MATCH ? AND NOT (\(Self.index.isGone))", [.text(word)]
                ) { (row) throws(StoreError) in try row.integer(0) })
        }
    }

    func integer(_ sql: String) throws -> Int64 {
        try database.run { connection throws(StoreError) in try connection.integer(sql) }
    }

    /// FTS5 compares the index with the table.
    func check() throws {
        try database.run { connection throws(StoreError) in
            try connection.execute("INSERT INTO note_text(note_text, rank) VALUES ('integrity-check', 1)")
        }
    }
}

@Suite struct TextIndexerTests {
    @Test("steps bring everything in, the newest first, until there is nothing to do")
    func steps() throws {
        let table = try IndexedTable(rows: 1_000)
        #expect(try table.step() == .more)
        #expect(try table.find("all") == Set(937...1_000))
        var steps = 1
        while try table.step() == .more { steps += 1 }
        #expect(steps < 100)
        #expect(try table.find("all") == Set(1...1_000))
        #expect(try table.integer("SELECT count(*) FROM note_indexed") == 1)
        #expect(try table.step() == .done)
        try table.check()
    }

    @Test("what comes while old rows wait goes in first; the ranges join in the end")
    func newestFirst() throws {
        let table = try IndexedTable(rows: 500, through: 100)
        _ = try table.step()
        try table.insert(200, "new")
        _ = try table.step()
        #expect(try table.find("new") == Set(637...700))
        #expect(try table.find("title100") == [100])
        while try table.step() == .more {}
        #expect(try table.find("new") == Set(501...700))
        #expect(try table.find("all") == Set(1...500))
        #expect(try table.integer("SELECT count(*) FROM note_indexed WHERE low = 1 AND high = 700") == 1)
        try table.check()
    }

    @Test("a search finds the newest at once, and says that the oldest are missing")
    func search() throws {
        let table = try IndexedTable(rows: 2_000)
        #expect(try !table.catchUp())
        #expect(try table.find("all") == Set(1_489...2_000))
        while try table.step() == .more {}
        try table.insert(1, "fresh")
        #expect(try table.find("fresh") == [])
        #expect(try table.catchUp())
        #expect(try table.find("fresh") == [2_001])
    }

    @Test("long texts make short steps, and every step makes progress")
    func long() throws {
        let table = try IndexedTable()
        for _ in 0..<3 { try table.insert(1, String(repeating: "word ", count: 20_000)) }
        #expect(try table.step() == .more)
        #expect(try table.find("word") == [3])
        while try table.step() == .more {}
        #expect(try table.find("word") == [1, 2, 3])
    }

    @Test("a text that is removed is gone at once; all of them too")
    func removal() throws {
        let table = try IndexedTable(rows: 200)
        _ = try table.step()
        for row in [10, 200] as [Int64] {
            try table.database.run { connection throws(StoreError) in
                try TextIndexer(IndexedTable.index, connection).remove(row)
                try connection.execute("DELETE FROM note WHERE row = ?", [.integer(row)])
            }
        }
        while try table.step() == .more {}
        #expect(try table.find("all").count == 198)
        try table.check()
        try table.database.run { connection throws(StoreError) in
            try TextIndexer(IndexedTable.index, connection).removeAll()
            try connection.execute("DELETE FROM note")
        }
        #expect(try table.find("all") == [])
        #expect(try table.catchUp())
        try table.insert(1)
        #expect(try table.catchUp())
        #expect(try table.find("all") == [201])
        try table.check()
    }

    @Test(
        "whatever comes, goes and is reworded between steps: a complete index has the table's words", arguments: 1...20)
    func model(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let table = try IndexedTable(rows: 300, through: 40)
        var words: [Int64: String] = [:]
        for row in Int64(1)...300 { words[row] = "all" }
        var next: Int64 = 301
        for _ in 0..<120 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                let count = Int.random(in: 1...120, using: &random)
                let word = ["red", "green", "blue"].randomElement(using: &random) ?? "red"
                try table.insert(count, word)
                for _ in 0..<count { (words[next], next) = (word, next + 1) }
            case 4..<6:
                guard let row = words.keys.sorted().randomElement(using: &random) else { continue }
                words[row] = Bool.random(using: &random) ? nil : "other"
                let word = words[row]
                try table.database.run { connection throws(StoreError) in
                    try connection.execute(
                        """
                        INSERT OR IGNORE INTO note_gone SELECT row, title, body, search FROM note
                            WHERE row = ?1 AND \(IndexedTable.index.contains("row"))
                        """, [.integer(row)])
                    try connection.execute(
                        "DELETE FROM note WHERE row = ?1 AND ?2 IS NULL", [.integer(row), .optional(word)])
                    try connection.execute(
                        "UPDATE note SET body = ifnull(?2, body) WHERE row = ?1", [.integer(row), .optional(word)])
                }
            case 6..<9: _ = try table.step()
            case _: _ = try table.catchUp()
            }
            // What is found is right, though not all is found yet.
            for row in try table.find("red") { #expect(words[row] == "red", "seed \(seed)") }
        }
        while try table.step() == .more {}
        #expect(try table.catchUp())
        for word in ["all", "red", "green", "blue", "other"] {
            #expect(try table.find(word) == Set(words.filter { $0.value == word }.keys), "seed \(seed): \(word)")
        }
        #expect(try table.integer("SELECT count(*) FROM note_indexed") == 1)
        try table.check()
    }
}
