import Identity
import Store
import TestSupport
import Testing
import Wire

@testable import Sealing

/// What becomes of statements of peers (WireRekey, "Approval" and "Switch").
struct PeerMovesTests {
    private let keys: [SigningKey]
    private let me: PeerID

    init() throws {
        keys = try (0..<6).map { number in try SigningKey(seed: (0..<32).map { UInt8(number * 32) &+ $0 }) }
        me = PeerID(keys[5].did)
    }

    private func id(_ number: Int) -> PeerID { PeerID(keys[number].did) }
    private func statement(_ old: Int, _ new: Int, at timestamp: Int64) -> MoveStatement {
        MoveStatement(from: keys[old], to: keys[new], for: me, at: timestamp)
    }
    private func context(paired: [Int] = [0], revoked: [Int] = [], now: Int64 = 1_000) -> PeerMoves.Context {
        let (paired, revoked) = (paired.map(id), revoked.map(id))
        return PeerMoves.Context(now: now, isPaired: { paired.contains($0) }, isRevoked: { revoked.contains($0) })
    }
    private func code(_ body: () throws -> Void) -> String? {
        do { try body() } catch { return (error as? SealError)?.code.name }
        return nil
    }

    @Test("a statement is asked about once, answered again each time, and only an approved one can be announced")
    func approval() throws {
        var moves = PeerMoves()
        let first = statement(0, 1, at: 10)
        let move = PeerMove(old: id(0), new: id(1), receiver: me, timestamp: 10, state: .asked)
        #expect(try moves.stated(first, context()) == .ask(move, replacing: nil))
        #expect(try moves.stated(first, context()) == .wait)
        #expect(moves.announced(first) == nil)
        #expect(moves.answered(id(0), to: id(2), accept: true) == nil)
        #expect(moves.answered(id(0), to: id(1), accept: true)?.state == .approved)
        #expect(moves.answered(id(0), to: id(1), accept: false) == nil, "an answer is final")
        guard case .repeatAnswer(let again) = try moves.stated(first, context()) else {
            Issue.record("asked again")
            return
        }
        #expect(again.state == .approved)
        #expect(moves.announced(first)?.new == id(1))
        #expect(moves.announced(statement(0, 2, at: 10)) == nil)
        #expect(moves.forget(id(0)) == [id(1)])
        #expect(moves.announced(first) == nil, "unpaired meanwhile")
    }

    @Test("a declined move is asked about again only with a newer statement")
    func declined() throws {
        var moves = PeerMoves()
        _ = try moves.stated(statement(0, 1, at: 10), context())
        #expect(moves.answered(id(0), to: id(1), accept: false)?.state == .declined)
        guard case .repeatAnswer(let again) = try moves.stated(statement(0, 1, at: 10), context()) else {
            Issue.record("asked again")
            return
        }
        #expect(again.state == .declined)
        #expect(moves.announced(statement(0, 1, at: 10)) == nil)
        guard case .ask = try moves.stated(statement(0, 1, at: 11), context()) else {
            Issue.record("not asked again")
            return
        }
        #expect(code { _ = try moves.stated(statement(0, 1, at: 10), context()) } == "replayed")
    }

    @Test("older statements are replays, two at one time conflict, and keys in use or refused are no way to go")
    func conflicts() throws {
        var moves = PeerMoves()
        _ = try moves.stated(statement(0, 1, at: 10), context())
        #expect(code { _ = try moves.stated(statement(0, 2, at: 9), context()) } == "replayed")
        #expect(code { _ = try moves.stated(statement(0, 2, at: 10), context()) } == "conflicting_move")
        #expect(code { _ = try moves.stated(statement(0, 2, at: 11), context(paired: [0, 2])) } == "conflicting_move")
        #expect(
            code { _ = try moves.stated(statement(0, 2, at: 11), context(revoked: [2])) } == "conflicting_move",
            "a loop back to a key that was left")
        #expect(
            code { _ = try moves.stated(statement(3, 1, at: 99), context(paired: [0, 3])) } == "conflicting_move",
            "another peer's new key")
        #expect(moves.questions.map(\.new) == [id(1)])
    }

    @Test("a newer statement, maybe of a thief, replaces a question, but not what was approved before")
    func newer() throws {
        var moves = PeerMoves()
        _ = try moves.stated(statement(0, 1, at: 10), context())
        _ = moves.answered(id(0), to: id(1), accept: true)
        guard case .ask(_, let replaced) = try moves.stated(statement(0, 2, at: 20), context()) else {
            Issue.record("not asked")
            return
        }
        #expect(replaced == nil)
        #expect(moves.announced(statement(0, 1, at: 10)) != nil)
        guard case .ask(_, let older?) = try moves.stated(statement(0, 3, at: 30), context()) else {
            Issue.record("not asked")
            return
        }
        #expect(older.new == id(2))
        #expect(moves.moves.count == 2 && moves.successors(of: id(0)) == [id(1)])
    }

    @Test("a statement more than a day ahead of our clock is refused: none could follow it")
    func early() throws {
        var moves = PeerMoves()
        let day = PeerMoves.clockTolerance
        #expect(code { _ = try moves.stated(statement(0, 1, at: 1_001 + day), context()) } == "early")
        #expect(code { _ = try moves.stated(statement(0, 1, at: .max), context()) } == "early")
        #expect(moves.moves.isEmpty)
        #expect(code { _ = try moves.stated(statement(0, 1, at: 1_000 + day), context()) } == nil)
        #expect(code { _ = try moves.stated(statement(0, 2, at: 5 + day), context(now: 5)) } == "replayed")
    }

    @Test("a statement that was declined is no floor: a thief can't put off the owner's move")
    func declinedAhead() throws {
        var moves = PeerMoves()
        for round in 0..<3 {
            // From a copy of the old key, a day ahead.
            let stolen = statement(0, 4, at: 1_000 + PeerMoves.clockTolerance - Int64(10 - round))
            guard case .ask = try moves.stated(stolen, context()) else {
                Issue.record("the thief was not asked about")
                return
            }
            #expect(moves.answered(id(0), to: id(4), accept: false)?.state == .declined)
        }
        guard case .ask(let move, _) = try moves.stated(statement(0, 1, at: 900), context()) else {
            Issue.record("the owner was not asked about")
            return
        }
        #expect(move.new == id(1) && moves.questions == [move])
        #expect(moves.answered(id(0), to: id(1), accept: true)?.state == .approved)
        // What was approved still is one.
        #expect(code { _ = try moves.stated(statement(0, 2, at: 899), context()) } == "replayed")
    }

    @Test("what was approved keeps our id at that time, also in the store")
    func receiver() throws {
        let database = try Database.open(path: ":memory:", migrations: SealStates.migrations).database
        defer { database.close() }
        var moves = PeerMoves()
        let first = statement(0, 1, at: 10)
        _ = try moves.stated(first, context())
        _ = moves.answered(id(0), to: id(1), accept: true)
        // We have moved: the owner states it anew for our new key. The approval still counts.
        let again = MoveStatement(from: keys[0], to: keys[1], for: id(4), at: 10)
        guard case .repeatAnswer(let move) = try moves.stated(again, context()) else {
            Issue.record("asked again")
            return
        }
        #expect(move.state == .approved && move.receiver == me)
        let (kept, peer) = (moves, id(0))
        let stored = try database.run { (connection) throws(StoreError) in
            try MoveTables(connection).save(kept, of: peer)
            return try MoveTables(connection).peers()
        }
        let announced = try #require(stored.announced(first))
        try first.verify(for: [id(3), announced.receiver])
        #expect(code { try first.verify(for: [id(3)]) } == "misaddressed")
    }

    @Test("any order of statements, answers and announcements: bounded, and nothing moves that was not approved")
    func model() throws {
        for seed in 0..<300 {
            var generator = SeededGenerator(seed: UInt64(seed))
            var moves = PeerMoves()
            var approved: Set<[Int]> = []
            for _ in 0..<60 {
                let (old, new) = (Int.random(in: 0..<2, using: &generator), Int.random(in: 2..<5, using: &generator))
                let at = Int64.random(in: 1..<12, using: &generator)
                switch Int.random(in: 0..<5, using: &generator) {
                case 0, 1: _ = try? moves.stated(statement(old, new, at: at), context(paired: [0, 1]))
                case 2:
                    let accept = Bool.random(using: &generator)
                    if moves.answered(id(old), to: id(new), accept: accept) != nil, accept {
                        approved.insert([old, new])
                    }
                case 3:
                    if moves.announced(statement(old, new, at: at)) != nil { #expect(approved.contains([old, new])) }
                default:
                    moves.forget(id(old))
                    approved = approved.filter { $0[0] != old }
                }
                for peer in 0..<2 { #expect(moves.moves.filter { $0.old == id(peer) }.count <= 2) }
                #expect(Set(moves.moves.map(\.new)).count == moves.moves.count, "one key, one owner")
            }
        }
    }

    @Test("what is stored comes back, and damage is an error")
    func stored() throws {
        let database = try Database.open(path: ":memory:", migrations: SealStates.migrations).database
        defer { database.close() }
        var moves = PeerMoves()
        _ = try moves.stated(statement(0, 1, at: 10), context())
        _ = moves.answered(id(0), to: id(1), accept: true)
        var own = OwnMove(phase: .asking, old: me, new: id(4), timestamp: 3)
        own.tell(id(0), MoveStatement(from: keys[5], to: keys[4], for: id(0), at: 3))
        let (kept, ownKept, peer) = (moves, own, id(0))
        try database.run { (connection) throws(StoreError) in
            let tables = MoveTables(connection)
            try tables.save(kept, of: peer)
            try tables.save(ownKept)
            #expect(try tables.peers() == kept)
            #expect(try tables.own() == ownKept)
            try connection.execute("UPDATE own_move SET phase = 9")
            #expect(throws: StoreError.self) { try tables.own() }
            try connection.execute("UPDATE peer_move SET state = 9")
            #expect(throws: StoreError.self) { try tables.peers() }
        }
    }

    @Test("a move is stored once: the second time, and one that nobody approved, nothing changes")
    func completed() throws {
        let database = try Database.open(path: ":memory:", migrations: SealStates.migrations).database
        defer { database.close() }
        var moves = PeerMoves()
        _ = try moves.stated(statement(0, 1, at: 10), context())
        let asked = moves
        _ = moves.answered(id(0), to: id(1), accept: true)
        let (approved, peer, new) = (moves, id(0), id(1))
        try database.run { (connection) throws(StoreError) in
            let tables = MoveTables(connection)
            try SealPeers(connection).begin(peer, presharedKey: nil)
            try tables.save(asked, of: peer)
            guard let move = approved.moves.first else { return }
            #expect(try !tables.complete(move, name: "Phone", at: 1))
            try tables.save(approved, of: peer)
            #expect(try tables.complete(move, name: "Phone", at: 1))
            #expect(try !tables.complete(move, name: "Phone", at: 1))
            #expect(try RevokedKeys(connection).all().map(\.successor) == [new])
            let entries = try SealPeers(connection).all()
            #expect(entries[peer] == nil && entries[new]?.policy.minimum == .two)
        }
    }
}
