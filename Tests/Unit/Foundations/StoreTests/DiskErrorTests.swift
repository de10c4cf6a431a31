import Testing

@testable import Store

@Suite struct DiskErrorTests {
    private func fullDatabase(_ path: String) throws -> Database {
        let database = try Database.numbers(path)
        try database.run { connection throws(StoreError) in
            let pages = try connection.integer("PRAGMA page_count")
            _ = try connection.integer("PRAGMA max_page_count = \(pages + 4)")
        }
        return database
    }

    @Test("a full disk fails the work that needs the room, half-writes nothing, and spares its neighbours")
    func full() throws {
        let scratch = try Scratch()
        let database = try fullDatabase(scratch.path)
        let gate = Gate()
        let outcomes = Recorder<StoreError.Code?>()
        let huge = String(repeating: "x", count: 200_000)
        database.submit { _ throws(StoreError) in
            gate.wait()
        } then: { _ in
        }
        for value: Int64 in 1...5 {
            database.submit { connection throws(StoreError) in
                try connection.execute("INSERT INTO number(value) VALUES (?)", [.integer(value * 10)])
                if value == 3 {
                    try connection.execute(
                        "INSERT INTO number(value, note) VALUES (?, ?)", [.integer(31), .text(huge)])
                }
            } then: {
                outcomes.add($0.code)
            }
        }
        gate.open()
        #expect(try database.all() == [10, 20, 40, 50])
        #expect(outcomes.all == [nil, nil, .full, nil, nil])
    }

    @Test("when there is room again, work goes on")
    func recovery() throws {
        let scratch = try Scratch()
        let database = try fullDatabase(scratch.path)
        let huge = String(repeating: "x", count: 200_000)
        let insert: @Sendable (Connection) throws(StoreError) -> Void = { (connection) throws(StoreError) in
            try connection.execute("INSERT INTO number(value, note) VALUES (1, ?)", [.text(huge)])
        }
        let error = #expect(throws: StoreError.self) { try database.run(insert) }
        #expect(error?.code == .full)
        try database.run { connection throws(StoreError) in
            _ = try connection.integer("PRAGMA max_page_count = 1000000")
        }
        try database.run(insert)
        #expect(try database.all() == [1])
        database.close()
        #expect(try Database.numbers(scratch.path).all() == [1])
    }

    @Test("work that swallows the error of a lost transaction is not told a success")
    func swallowed() throws {
        let scratch = try Scratch()
        let database = try fullDatabase(scratch.path)
        let huge = String(repeating: "x", count: 200_000)
        let error = #expect(throws: StoreError.self) {
            try database.run { connection throws(StoreError) in
                try connection.execute("INSERT INTO number(value) VALUES (1)")
                _ = try? connection.execute("INSERT INTO number(value, note) VALUES (2, ?)", [.text(huge)])
                _ = try? connection.execute("INSERT INTO number(value) VALUES (3)")
            }
        }
        #expect(error != nil)
        #expect(try database.all() == [])
    }
}
