import Identity
import JSON
import Store
import Testing
import Wire

@testable import Sealing

@Suite struct SealStatesTests {
    private func open(_ path: String = ":memory:") throws -> Database {
        try Database.open(path: path, migrations: SealStates.migrations).database
    }

    private func begin(_ database: Database, now: EpochMilliseconds) throws -> Int64 {
        try database.run { (connection) throws(StoreError) in try SealStates(connection).begin(now: now) }
    }

    @Test(
        "each start has a higher epoch, also when the clock goes back, across a reopening, and with an old copy of the file"
    )
    func epochs() throws {
        let scratch = try Scratch()
        var database = try open(scratch.path)
        #expect(try begin(database, now: 1_000) == 1_000)
        #expect(try begin(database, now: 5_000) == 5_000)
        database.close()
        database = try open(scratch.path)
        #expect(try begin(database, now: 3) == 5_001)
        database.close()
    }

    @Test(
        "the first epoch is positive and far from the end, whatever the clock says",
        arguments: [Int64.min, -1, 0, 1, Int64.max])
    func clock(now: Int64) throws {
        let database = try open()
        let first = try begin(database, now: now)
        #expect(first > 0 && first <= Int64.max / 2)
        #expect(try begin(database, now: now) == first + 1)
    }

    @Test("a file that was lost begins above what it had said before")
    func loss() throws {
        let before = try open()
        var last: Int64 = 0
        for _ in 0..<50 { last = try begin(before, now: 1_000_000) }
        #expect(try begin(try open(), now: 1_000_051) > last)
    }

    @Test("what was saved is known after a reopening, so a frame has its effect once")
    func persistence() throws {
        let scratch = try Scratch()
        let (alice, bob) = (try Party(), try Party())
        let a = alice.sealer()
        let frames = try (0..<3).map { try a.seal(["type": "x", "payload": .integer($0)], to: bob.id, now: 1) }
        var database = try open(scratch.path)
        let b = bob.sealer()
        for index in [0, 2] {
            let mark = try b.open(frames[index], from: alice.id).mark
            #expect(try database.run { (connection) throws(StoreError) in try SealStates(connection).save(mark) })
            #expect(try !database.run { (connection) throws(StoreError) in try SealStates(connection).save(mark) })
        }
        // Opened, and lost in a crash: nothing was saved.
        _ = try b.open(frames[1], from: alice.id)
        database.close()

        database = try open(scratch.path)
        let windows = try database.run { (connection) throws(StoreError) in try SealStates(connection).windows() }
        #expect(Array(windows.keys) == [alice.id])
        let next = bob.sealer(epoch: 2, windows: windows)
        #expect(next.refusal { _ = try next.open(frames[0], from: alice.id) } == .replayed)
        #expect(next.refusal { _ = try next.open(frames[2], from: alice.id) } == .replayed)
        #expect(try next.open(frames[1], from: alice.id).mark.seq == 2)
        database.close()
    }

    @Test("an effect that fails takes its mark back with it")
    func rollback() throws {
        let database = try open()
        let mark = SealMark(peer: "p", epoch: 1, seq: 1)
        #expect(throws: StoreError.self) {
            try database.run { (connection) throws(StoreError) in
                try SealStates(connection).save(mark)
                throw StoreError(.full, "no room")
            }
        }
        #expect(try database.run { (connection) throws(StoreError) in try SealStates(connection).save(mark) })
    }

    @Test("windows are kept by peer, whose bytes count, and forgotten one by one")
    func peers() throws {
        let database = try open()
        try database.run { (connection) throws(StoreError) in
            let states = SealStates(connection)
            let (composed, decomposed) = (PeerID("p\u{e9}"), PeerID("pe\u{301}"))
            try states.save(SealMark(peer: composed, epoch: 1, seq: 1))
            #expect(try states.window(of: decomposed) == nil)
            try states.save(SealMark(peer: decomposed, epoch: 9, seq: 1))
            #expect(try states.windows().count == 2)
            #expect(try states.window(of: composed)?.accepts(epoch: 1, seq: 1) == false)
            #expect(try states.forget(composed))
            #expect(try !states.forget(composed))
            #expect(try states.window(of: composed) == nil)
            #expect(try states.window(of: decomposed) != nil)
        }
    }

    @Test("a damaged window is an error, not an empty one")
    func damage() throws {
        let database = try open()
        try database.run { (connection) throws(StoreError) in
            try connection.execute("INSERT INTO seal_window (peer, window) VALUES ('p', x'0102')")
        }
        #expect(throws: StoreError.self) {
            try database.run { (connection) throws(StoreError) in try SealStates(connection).windows() }
        }
        #expect(throws: StoreError.self) {
            try database.run { (connection) throws(StoreError) in
                try SealStates(connection).save(SealMark(peer: "p", epoch: 1, seq: 1))
            }
        }
    }
}
