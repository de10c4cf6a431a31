import Foundation
import JSON
import Sealing
@testable import Hosting
@testable import Store
import Testing
import Wire

/// The second copy of the pairings, at every moment at which a process can die.
@Suite struct PairingCopyTests {
    private static let role = Migration(
        "role.1",
        sql: """
            CREATE TABLE peer_row (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, seen INTEGER NOT NULL) STRICT;
            CREATE TABLE right (peer TEXT NOT NULL, skill TEXT NOT NULL, risk INTEGER NOT NULL,
                PRIMARY KEY (peer, skill)) STRICT, WITHOUT ROWID;
            """)
    private static let tables = [
        CopiedTable("peer_row", .grants, "id, name, seen", values: "id, name, 0"),
        CopiedTable("right", .restricts, keys: 2, "peer, skill, risk"),
    ]

    /// What a role has, as a user sees it.
    private struct Pairings: Equatable {
        var peers: [String: String] = [:]
        var rights: [String: Int64] = [:]
        var revoked: Set<String> = []
    }

    /// Passes everything on, and keeps what is on the disk at each step.
    private final class Steps: CommitObserver, @unchecked Sendable {
        let copy: PairingCopy
        let path: String
        var onDisk: [Data?] = []
        var fails = false

        init(_ copy: PairingCopy, _ path: String) { (self.copy, self.path) = (copy, path) }

        // All columns: the copy is asked at each change, and finds by itself what changes nothing.
        func follows(_ table: String, column: String?) -> Bool { copy.follows(table, column: nil) }
        var isBehind: Bool { copy.isBehind }
        private func note() { onDisk.append(FileManager.default.contents(atPath: path)) }

        func opened(_ connection: Connection, damage: DatabaseDamage?) throws(StoreError) {
            try copy.opened(connection, damage: damage)
            note()
        }

        func willCommit(_ connection: Connection) throws(StoreError) {
            try copy.willCommit(connection)
            note()
            if fails { throw StoreError(.full, "no room") }
        }

        func ended(committed: Bool) {
            copy.ended(committed: committed)
            note()
        }
    }

    private final class Place {
        let directory = NSTemporaryDirectory() + "bellwire-copy-\(UUID().uuidString)"
        var file: String { directory + "/role.pairings" }
        var base: String { directory + "/role.db" }

        init() throws { try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(atPath: directory) }

        func write(_ data: Data?) throws {
            try? FileManager.default.removeItem(atPath: file)
            if let data { try data.write(to: URL(filePath: file)) }
        }

        func loseBase() throws {
            for name in try FileManager.default.contentsOfDirectory(atPath: directory) where name.hasPrefix("role.db") {
                try FileManager.default.removeItem(atPath: "\(directory)/\(name)")
            }
        }

        func open(isDamaged: Bool = false) throws -> (database: Database, steps: Steps) {
            let copy = PairingCopy(file, of: PairingCopyTests.tables, settling: "", now: 1_000)
            let steps = Steps(copy, file)
            let database = try Database.open(
                path: base, migrations: SealStates.migrations + [PairingCopyTests.role] + PairingCopy.migrations,
                isDamaged: isDamaged, observer: steps
            ).database
            return (database, steps)
        }
    }

    private func pairings(_ database: Database) throws -> Pairings {
        try database.run { (connection) throws(StoreError) in
            var found = Pairings()
            _ = try connection.query("SELECT id, name FROM peer_row") { (row) throws(StoreError) in
                found.peers[try row.text(0)] = try row.text(1)
            }
            _ = try connection.query("SELECT peer, risk FROM right") { (row) throws(StoreError) in
                found.rights[try row.text(0)] = try row.integer(1)
            }
            found.revoked = Set(try RevokedKeys(connection).all().map(\.id.text))
            return found
        }
    }

    /// The first changes, in a database that is closed again.
    private func filled(_ place: Place) throws -> Pairings {
        let (database, _) = try place.open()
        for change in Self.changes[...2] {
            try database.run { (connection) throws(StoreError) in
                for sql in change { try connection.execute(sql) }
            }
        }
        defer { database.close() }
        return try pairings(database)
    }

    private static let changes: [[String]] = [
        ["INSERT INTO peer_row VALUES ('a', 'A', 1)"],
        ["INSERT INTO peer_row VALUES ('b', 'B', 1)", "INSERT INTO right VALUES ('b', 's', 1)"],
        ["INSERT INTO right VALUES ('a', 's', 0)"],
        ["UPDATE peer_row SET name = 'AA' WHERE id = 'a'"],
        ["UPDATE peer_row SET seen = 7"],
        ["UPDATE right SET risk = 0 WHERE peer = 'b'"],
        // A move to another key.
        ["UPDATE peer_row SET id = 'c' WHERE id = 'b'", "UPDATE right SET peer = 'c' WHERE peer = 'b'"],
        // Revoked.
        ["DELETE FROM peer_row WHERE id = 'a'", "INSERT INTO revoked_key VALUES ('a', 'AA', 5, NULL)"],
        ["DELETE FROM right WHERE peer = 'a'"],
        // Readmitted, and paired again.
        ["DELETE FROM revoked_key"],
        ["INSERT INTO peer_row VALUES ('a', 'A', 1)"],
        ["DELETE FROM peer_row WHERE id = 'c'", "DELETE FROM right WHERE peer = 'c'"],
    ]

    @Test("the copy at every step gives no peer, right or key that was not there both before and after")
    func everyStep() throws {
        let place = try Place()
        let (database, steps) = try place.open()
        for change in Self.changes {
            let before = try pairings(database)
            steps.onDisk = []
            try database.run { (connection) throws(StoreError) in
                for sql in change { try connection.execute(sql) }
            }
            let after = try pairings(database)
            #expect(steps.onDisk.count == 2)
            for (step, data) in steps.onDisk.enumerated() {
                let lost = try Place()
                try lost.write(data)
                let (restored, _) = try lost.open()
                let found = try pairings(restored)
                restored.close()
                if step == 1 {
                    #expect(found == after, "after \(change)")
                    continue
                }
                for peer in found.peers.keys { #expect(before.peers[peer] != nil && after.peers[peer] != nil) }
                for peer in found.peers.keys {
                    #expect(found.rights[peer] == after.rights[peer] ?? before.rights[peer])
                }
                #expect(found.revoked.isSuperset(of: before.revoked.union(after.revoked)))
            }
        }
        database.close()
    }

    @Test("a process that dies at any step leaves a database that counts, or a copy that does")
    func killed() throws {
        for cut in Self.changes.indices {
            let place = try Place()
            let (database, steps) = try place.open()
            for change in Self.changes[..<cut] {
                try database.run { (connection) throws(StoreError) in
                    for sql in change { try connection.execute(sql) }
                }
            }
            let before = try pairings(database)
            steps.onDisk = []
            try database.run { (connection) throws(StoreError) in
                for sql in Self.changes[cut] { try connection.execute(sql) }
            }
            let after = try pairings(database)
            database.close()
            // Committed, and the final copy was not written.
            try place.write(steps.onDisk[0])
            let (again, _) = try place.open()
            #expect(try pairings(again) == after)
            again.close()
            // Written, and the log with the commit is lost: as if the database were that of before.
            let old = try Place()
            let (early, _) = try old.open()
            for change in Self.changes[..<cut] {
                try early.run { (connection) throws(StoreError) in
                    for sql in change { try connection.execute(sql) }
                }
            }
            early.close()
            try old.write(steps.onDisk[1])
            let (rescued, rescuedSteps) = try old.open()
            #expect(try pairings(rescued) == after)
            #expect(rescuedSteps.copy.outcome == (before == after ? .kept : .restored))
            rescued.close()
            let (calm, calmSteps) = try old.open()
            #expect(calmSteps.copy.outcome == .kept)
            #expect(try pairings(calm) == after)
            calm.close()
        }
    }

    @Test("a commit that fails leaves both as they were; without the copy a removal is refused, an addition is not")
    func failures() throws {
        let place = try Place()
        let (database, steps) = try place.open()
        try database.run { (connection) throws(StoreError) in try connection.execute(Self.changes[0][0]) }
        let (before, file) = (try pairings(database), FileManager.default.contents(atPath: place.file))
        steps.fails = true
        #expect(throws: StoreError.self) {
            try database.run { (connection) throws(StoreError) in try connection.execute("DELETE FROM peer_row") }
        }
        steps.fails = false
        #expect(try pairings(database) == before && FileManager.default.contents(atPath: place.file) == file)
        // In the way of the new file.
        try FileManager.default.createDirectory(atPath: place.file + ".new", withIntermediateDirectories: true)
        #expect(throws: StoreError.self) {
            try database.run { (connection) throws(StoreError) in try connection.execute("DELETE FROM peer_row") }
        }
        #expect(try pairings(database) == before && steps.isBehind)
        try database.run { (connection) throws(StoreError) in try connection.execute(Self.changes[1][0]) }
        try FileManager.default.removeItem(atPath: place.file + ".new")
        #expect(steps.isBehind)
        // Whatever is committed next brings it up to date.
        try database.run { (connection) throws(StoreError) in _ = try connection.integer("SELECT 1") }
        #expect(!steps.isBehind)
        database.close()
        try place.loseBase()
        let (restored, _) = try place.open()
        #expect(try pairings(restored).peers == ["a": "A", "b": "B"])
        restored.close()
    }

    @Test("a damaged copy counts for nothing; with a damaged database the pairings are lost, and it says since when")
    func damagedCopy() throws {
        let place = try Place()
        let before = try filled(place)
        let whole = try #require(FileManager.default.contents(atPath: place.file))
        for offset in stride(from: 0, to: whole.count, by: 7) {
            var bytes = whole
            bytes[offset] ^= 0x10
            try place.write(bytes)
            let (again, steps) = try place.open()
            #expect(steps.copy.outcome == .kept)
            again.close()
            #expect(FileManager.default.contents(atPath: place.file) == whole, "it is written anew")
        }
        for length in [0, 1, 64, 65, 66, whole.count - 1] {
            try place.write(whole.prefix(length))
            let (again, _) = try place.open()
            #expect(try pairings(again) == before)
            again.close()
        }
        try place.write(whole.dropLast())
        let (lost, steps) = try place.open(isDamaged: true)
        #expect(steps.copy.outcome == .lost && steps.copy.lostAt == 1_000)
        #expect(try pairings(lost) == Pairings())
        lost.close()
        let (later, again) = try place.open()
        #expect(again.copy.outcome == .kept && again.copy.lostAt == 1_000)
        later.close()
    }

    @Test("content of the database that was changed behind its back gives way to the copy")
    func changedContent() throws {
        let place = try Place()
        let before = try filled(place)
        let plain = try Database.open(
            path: place.base, migrations: SealStates.migrations + [Self.role] + PairingCopy.migrations
        ).database
        try plain.run { (connection) throws(StoreError) in try connection.execute("UPDATE right SET risk = 3") }
        plain.close()
        let (again, steps) = try place.open()
        #expect(try pairings(again) == before && steps.copy.outcome == .restored)
        again.close()
    }
}
