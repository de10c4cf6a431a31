import Identity
import Store
import Testing
import Wire

@testable import Sealing

/// What of sessions is stored (WireSessions, "Versions" and "Keys").
@Suite struct SealPeersTests {
    private let peer: PeerID = "did:key:z6Mkpeer"

    private func database() throws -> Database {
        try Database.open(path: ":memory:", migrations: SealStates.migrations).database
    }

    @Test("a pairing without a preshared key begins with version 1, which the first session raises; any other with 2")
    func life() throws {
        let psk = try #require(PresharedKey(bytes: [UInt8](repeating: 9, count: 32)))
        try database().run { [peer] (connection) throws(StoreError) in
            let peers = SealPeers(connection)
            try peers.begin(peer, presharedKey: psk)
            #expect(try peers.all() == [peer: SealPeers.Entry(presharedKey: psk)])
            #expect(try peers.all()[peer]?.policy.minimum == .two)
            // As before a key implied 2.
            try connection.execute("UPDATE seal_peer SET minimum = 1")
            #expect(try peers.all()[peer]?.policy.minimum == .two)
            try peers.complete(peer)
            try peers.complete(peer)
            #expect(try peers.all()[peer]?.policy.minimum == .two)
            #expect(try peers.all()[peer]?.presharedKey == psk)
            try peers.begin(peer, presharedKey: nil)
            #expect(try peers.all() == [peer: SealPeers.Entry()])
            #expect(try peers.all()[peer]?.policy.minimum == .one)
            try peers.forget(peer)
            #expect(try peers.all().isEmpty)
        }
    }

    @Test("a pair that was made before sessions is pinned without a preshared key")
    func older() throws {
        try database().run { [peer] (connection) throws(StoreError) in
            try SealPeers(connection).complete(peer)
            let entry = try SealPeers(connection).all()[peer]
            #expect(entry?.policy.minimum == .two && entry?.presharedKey.isFromPairing == false)
        }
    }

    @Test(
        "a damaged row is an error, never version 1", arguments: ["0, NULL", "3, NULL", "2, x'00'", "1, zeroblob(32)"])
    func damage(values: String) throws {
        let database = try database()
        try database.run { (connection) throws(StoreError) in
            try connection.execute("INSERT INTO seal_peer (peer, minimum, psk) VALUES ('p', \(values))")
        }
        #expect(throws: StoreError.self) {
            try database.run { (connection) throws(StoreError) in _ = try SealPeers(connection).all() }
        }
    }

    @Test("a file of the version before keeps its starts and windows")
    func migration() throws {
        let scratch = try Scratch()
        let mark = SealMark(peer: peer, epoch: 7, seq: 3)
        let before = try Database.open(path: scratch.path, migrations: Array(SealStates.migrations.prefix(1))).database
        try before.run { (connection) throws(StoreError) in
            _ = try SealStates(connection).begin(now: 41)
            try SealStates(connection).save(mark)
        }
        before.close()
        let after = try Database.open(path: scratch.path, migrations: SealStates.migrations).database
        try after.run { [peer] (connection) throws(StoreError) in
            #expect(try SealStates(connection).begin(now: 1) == 42)
            #expect(try SealStates(connection).window(of: peer)?.accepts(epoch: 7, seq: 3) == false)
            #expect(try SealPeers(connection).all().isEmpty)
        }
        after.close()
    }

    @Test("frames of sessions leave no mark in the store")
    func marks() throws {
        let id = try #require(SessionID(bytes: [UInt8](repeating: 0xff, count: 16)))
        let mark = SealMark(peer: peer, session: id, counter: 5)
        #expect(mark.isOfSession && mark.start == nil && !SealMark(peer: peer, epoch: 1, seq: 1).isOfSession)
        try database().run { [peer] (connection) throws(StoreError) in
            let states = SealStates(connection)
            for _ in 0..<2 { #expect(try states.save(mark)) }
            try states.begin(mark)
            var marks = SealMarks(connection)
            let isNew = try marks.record(mark)
            try marks.save()
            let window = try states.window(of: peer)
            #expect(isNew && window == nil)
        }
    }
}
