import Testing

@testable import Store

@Suite("Deferred work") struct DeferredWorkTests {
    private let never: UInt64 = 86_400_000

    @Test("joins the next transaction, in the order of submission")
    func joins() throws {
        let database = try Database.numbers()
        let told = Recorder<Int64>()
        for value: Int64 in 1...3 { insertLater(value, into: database, within: never, told) }
        #expect(database.waiting == 3)
        // `all` is work of its own, and runs behind what was submitted before.
        #expect(try database.all() == [1, 2, 3])
        #expect(told.all == [1, 2, 3])
        #expect(database.waiting == 0)
    }

    @Test("has a transaction of its own when its time has come, and no sooner than that")
    func deadline() throws {
        let database = try Database.numbers()
        let (late, soon) = (Answer<Void>(), Answer<Void>())
        database.submitLater(within: never) { connection throws(StoreError) in
            try connection.execute("INSERT INTO number(value) VALUES (1)")
        } then: { _ in
            late.give(())
        }
        // The shorter wait takes the longer one along.
        let begin = MonotonicTime.now
        database.submitLater(within: 30) { connection throws(StoreError) in
            try connection.execute("INSERT INTO number(value) VALUES (2)")
        } then: { _ in
            soon.give(())
        }
        soon.wait()
        #expect(begin + 30 <= MonotonicTime.now)
        late.wait()
        #expect(try database.all() == [1, 2])
    }

    @Test("deferred work that arrives during a transaction still gets its own time")
    func duringWork() throws {
        let database = try Database.numbers()
        let (gate, entered, done) = (Gate(), Gate(), Answer<Void>())
        database.submit { _ throws(StoreError) in
            entered.open()
            gate.wait()
        } then: { _ in
        }
        entered.wait()
        database.submitLater(within: 10) { connection throws(StoreError) in
            try connection.execute("INSERT INTO number(value) VALUES (1)")
        } then: { _ in
            done.give(())
        }
        gate.open()
        done.wait()
        #expect(try database.all() == [1])
    }

    @Test("closing runs what is deferred; later work is refused")
    func closing() throws {
        let scratch = try Scratch()
        let told = Recorder<Int64>()
        let database = try Database.numbers(scratch.path)
        insertLater(1, into: database, within: never, told)
        database.close()
        #expect(told.all == [1])
        let refused = Answer<StoreError.Code?>()
        database.submitLater(within: 0) { _ throws(StoreError) in
        } then: {
            refused.give($0.code)
        }
        #expect(refused.wait() == .closed)
        #expect(try Database.numbers(scratch.path).all() == [1])
    }

    @Test("without a time it waits for the next transaction, or a flush")
    func withNext() throws {
        let database = try Database.numbers()
        let told = Recorder<Int64>()
        database.submitWithNext { connection throws(StoreError) in
            try connection.execute("INSERT INTO number(value) VALUES (1)")
        } then: { _ in
            told.add(1)
        }
        #expect(database.waiting == 1)
        #expect(try database.all() == [1])
        #expect(told.all == [1])
        let done = Answer<Void>()
        database.submitWithNext { connection throws(StoreError) in
            try connection.execute("INSERT INTO number(value) VALUES (2)")
        } then: { _ in
            done.give(())
        }
        database.flush()
        done.wait()
        // Nothing waits: nothing happens.
        database.flush()
        #expect(try database.all() == [1, 2])
    }

    @Test("a caller that may wait has its own transaction when no other comes in its time")
    func waiting() throws {
        let database = try Database.numbers()
        let begin = MonotonicTime.now
        try database.run(within: 20) { connection throws(StoreError) in
            try connection.execute("INSERT INTO number(value) VALUES (1)")
        }
        #expect(begin + 20 <= MonotonicTime.now)
        #expect(try database.all() == [1])
    }

    @Test("only a transaction without durable work is not synchronized")
    func synchronized() throws {
        let scratch = try Scratch()
        let database = try Database.numbers(scratch.path)
        let seen = Recorder<Int64>()
        func submit(isDurable: Bool) {
            database.submitWithNext(isDurable: isDurable) { connection throws(StoreError) in
                try connection.integer("PRAGMA synchronous")
            } then: {
                if case .success(let level) = $0 { seen.add(level) }
            }
        }
        for durable in [[true], [false], [false, true], [false, false], [true]] {
            let done = Answer<Void>()
            for isDurable in durable { submit(isDurable: isDurable) }
            database.submitWithNext(isDurable: false) { _ throws(StoreError) in
            } then: { _ in
                done.give(())
            }
            database.flush()
            done.wait()
        }
        let (full, normal): (Int64, Int64) = (2, 1)
        #expect(seen.all == [full, normal, full, full, normal, normal, full])
    }

    private func insertLater(
        _ value: Int64, into database: Database, within milliseconds: UInt64, _ told: Recorder<Int64>
    ) {
        database.submitLater(within: milliseconds) { connection throws(StoreError) in
            try connection.execute("INSERT INTO number(value) VALUES (?)", [.integer(value)])
        } then: { _ in
            told.add(value)
        }
    }
}
