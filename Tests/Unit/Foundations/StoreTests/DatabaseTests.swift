import Glibc
import Synchronization
import Testing

@testable import Store

@Suite struct DatabaseTests {
    @Test("work is done in the order of its submission, and told in that order, on the store's thread")
    func order() throws {
        let database = try Database.numbers()
        let told = Recorder<Int64>()
        for value in 0..<5_000 {
            database.submit { connection throws(StoreError) in
                try connection.execute("INSERT INTO number(value) VALUES (?)", [.integer(value)])
            } then: { result in
                #expect(StoreThread.isCurrent)
                #expect((try? result.get()) == 1)
                told.add(Int64(value))
            }
        }
        #expect(try database.all() == Array(0..<5_000))
        #expect(told.all == Array(0..<5_000))
        #expect(database.waiting == 0)
    }

    @Test("what waits together is committed together, and told only after that commit")
    func groupCommit() throws {
        let scratch = try Scratch()
        let database = try Database.numbers(scratch.path)
        // Used on the store's thread alone.
        nonisolated(unsafe) let other = try Connection(path: scratch.path)
        let (entered, gate) = (Gate(), Gate())
        let seenInWork = Recorder<Int64>()
        let seenAfter = Recorder<Int64>()
        // Holds the thread until all of the rest waits.
        database.submit { _ throws(StoreError) in
            entered.open()
            gate.wait()
        } then: { _ in
        }
        entered.wait()
        for value in 0..<100 {
            database.submit { connection throws(StoreError) in
                try connection.execute("INSERT INTO number(value) VALUES (?)", [.integer(value)])
                seenInWork.add((try? other.integer("SELECT count(*) FROM number")) ?? -1)
            } then: { _ in
                seenAfter.add((try? other.integer("SELECT count(*) FROM number")) ?? -1)
            }
        }
        gate.open()
        _ = try database.all()
        #expect(seenInWork.all == Array(repeating: 0, count: 100))
        #expect(seenAfter.all == Array(repeating: 100, count: 100))
    }

    @Test("work that fails is rolled back alone")
    func isolation() throws {
        let database = try Database.numbers()
        let gate = Gate()
        let outcomes = Recorder<StoreError.Code?>()
        database.submit { _ throws(StoreError) in
            gate.wait()
        } then: { _ in
        }
        for values: [Int64] in [[1, 2], [3, 1], [4, 5], [6, 6], [7]] {
            database.submit { connection throws(StoreError) in
                for value in values {
                    try connection.execute("INSERT INTO number(value) VALUES (?)", [.integer(value)])
                }
            } then: {
                outcomes.add($0.code)
            }
        }
        gate.open()
        #expect(try database.all() == [1, 2, 4, 5, 7])
        #expect(outcomes.all == [nil, .constraint, nil, .constraint, nil])
    }

    @Test("an error names SQLite's result and never a bound value")
    func silence() throws {
        let database = try Database.numbers()
        let error = #expect(throws: StoreError.self) {
            try database.run { connection throws(StoreError) in
                for _ in 0..<2 {
                    try connection.execute(
                        "INSERT INTO number(value, note) VALUES (?, ?)", [.integer(4_711), "hunter2"])
                }
            }
        }
        #expect(error?.code == .constraint)
        #expect(error?.description.contains("4711") == false)
        #expect(error?.description.contains("hunter2") == false)
    }

    @Test("submitting from within a then goes on, and a then of one database may use another")
    func reentrant() throws {
        let (first, second) = (try Database.numbers(), try Database.numbers())
        let told = Recorder<String>()
        first.submit { _ throws(StoreError) in
            1
        } then: { _ in
            told.add("first")
            second.submit { _ throws(StoreError) in
                2
            } then: { _ in
                told.add("second")
                first.submit { _ throws(StoreError) in
                    3
                } then: { _ in
                    told.add("third")
                }
            }
        }
        #expect(told.wait(for: 3) == ["first", "second", "third"])
    }

    @Test("closing lets what waits finish; later work is refused, exactly once each, outside the call")
    func closing() throws {
        let scratch = try Scratch()
        let database = try Database.numbers(scratch.path)
        let gate = Gate()
        let told = Recorder<String>()
        database.submit { _ throws(StoreError) in
            gate.wait()
        } then: { _ in
            told.add("held")
        }
        database.submit { connection throws(StoreError) in
            try connection.execute("INSERT INTO number(value) VALUES (1)")
        } then: {
            told.add("before: \($0.code?.name ?? "done")")
        }
        database.close { told.add("closed") }
        database.submit { _ throws(StoreError) in
            1
        } then: {
            #expect(StoreThread.isCurrent)
            told.add("after: \($0.code?.name ?? "done")")
        }
        #expect(told.all.isEmpty)
        gate.open()
        database.close()
        #expect(throws: StoreError.self) { try database.run { _ throws(StoreError) in 1 } }
        database.close { told.add("closed again") }
        let all = told.wait(for: 5)
        #expect(all.sorted() == ["after: closed", "before: done", "closed", "closed again", "held"])
        #expect(all.first == "held")
        #expect(scratch.names == ["test.db"], "the log is gone after a clean close")
        #expect(try Database.numbers(scratch.path).all() == [1])
    }

    @Test("work submitted from threads that race with the closing is told exactly once")
    func closingRace() throws {
        for _ in 0..<20 {
            let database = try Database.numbers()
            let told = Recorder<Bool>()
            let started = Gate()
            let threads = (0..<2).map { _ in
                Thread {
                    started.wait()
                    for _ in 0..<200 {
                        database.submit { _ throws(StoreError) in
                        } then: {
                            told.add($0.code == nil)
                        }
                    }
                }
            }
            started.open()
            database.close()
            for thread in threads { thread.join() }
            #expect(told.wait(for: 400).count == 400)
        }
    }

    @Test("work beyond the limit is refused by name, and what waits is not touched")
    func queueLimit() throws {
        let database = try Database.numbers(queueLimit: 3)
        let gate = Gate()
        let entered = Gate()
        let outcomes = Recorder<StoreError.Code?>()
        database.submit { _ throws(StoreError) in
            entered.open()
            gate.wait()
        } then: { _ in
        }
        entered.wait()
        for _ in 0..<5 {
            database.submit { _ throws(StoreError) in
            } then: {
                outcomes.add($0.code)
            }
        }
        #expect(database.waiting == 3)
        gate.open()
        let told = outcomes.wait(for: 5)
        #expect(told.filter { $0 == .queueFull }.count == 2)
        #expect(told.filter { $0 == nil }.count == 3)
    }

    @Test("waiting for the store on its own thread is refused, not a deadlock")
    func wrongThread() throws {
        let database = try Database.numbers()
        let codes = Recorder<StoreError.Code?>()
        database.submit { _ throws(StoreError) in
        } then: { _ in
            do throws(StoreError) { try database.run { _ throws(StoreError) in } } catch { codes.add(error.code) }
        }
        #expect(codes.wait(for: 1) == [.wrongThread])
        #expect(!StoreThread.isCurrent)
    }

    @Test("a database that nobody holds any more is closed after its work")
    func dropped() throws {
        let scratch = try Scratch()
        let told = Recorder<Int>()
        do {
            let database = try Database.numbers(scratch.path)
            database.submit { connection throws(StoreError) in
                try connection.execute("INSERT INTO number(value) VALUES (1)")
            } then: { _ in
                told.add(1)
            }
        }
        _ = told.wait(for: 1)
        let deadline = Deadline(seconds: 10)
        while scratch.names != ["test.db"], !deadline.isOver { sched_yield() }
        #expect(scratch.names == ["test.db"])
    }

    @Test("another process that holds the lock is a named error, and the work can be tried again")
    func busy() throws {
        let scratch = try Scratch()
        let database = try Database.numbers(scratch.path)
        try database.run { connection throws(StoreError) in try connection.executeScript("PRAGMA busy_timeout = 10") }
        let other = try Connection(path: scratch.path)
        try other.executeScript("BEGIN IMMEDIATE")
        let error = #expect(throws: StoreError.self) { try database.insert(1) }
        #expect(error?.code == .busy)
        try other.executeScript("ROLLBACK")
        try database.insert(1)
        #expect(try database.all() == [1])
    }

    @Test("jobs run on the store's thread through its executor")
    func executor() async throws {
        _ = try Database.numbers()
        #expect(await OnStore().isThere)
    }
}

/// An actor on the store's thread.
private actor OnStore {
    nonisolated var unownedExecutor: UnownedSerialExecutor { StoreThread.shared.asUnownedSerialExecutor() }

    var isThere: Bool {
        preconditionIsolated()
        return StoreThread.isCurrent
    }
}
