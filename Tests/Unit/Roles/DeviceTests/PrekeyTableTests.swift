import Foundation
import Identity
import Sealing
import Signalling
import Store
import Testing
import Wire

@testable import Desktop
@testable import Device

/// The prekeys in the stores of both sides (WirePrekeys, "Limits").
@Suite struct PrekeyTableTests {
    private let database: Database

    init() throws {
        database = try Database.open(
            path: ":memory:", migrations: PrekeyTable.migrations + DevicePrekeyTable.migrations
        ).database
    }

    private func run<T: Sendable>(_ work: @escaping @Sendable (PrekeyTable) throws(StoreError) -> T) throws -> T {
        try database.run { connection throws(StoreError) in try work(PrekeyTable(connection)) }
    }

    private static func keys(_ count: Int) -> [AgreementKey] { (0..<count).map { _ in .generate() } }

    private func use(_ key: AgreementKey, _ push: NotificationID, isLastResort: Bool = false) -> PrekeyUse {
        PrekeyUse(prekey: PrekeyID(key.publicKey), push: push, isLastResort: isLastResort)
    }

    private func found(_ key: AgreementKey, now: Int64 = 1) throws -> PrekeyTable.Found? {
        try run { table throws(StoreError) in try table.find(PrekeyID(key.publicKey), now: now) }
    }

    @Test("a single-use prekey is gone after its use, and remembers the push; a last resort stays")
    func uses() throws {
        let (keys, last) = (Self.keys(2), AgreementKey.generate())
        try run { table throws(StoreError) in try table.add(keys, lastResort: last, for: "d", now: 1) }
        let first = try #require(try found(keys[0]))
        #expect(first.desktop == "d" && !first.isLastResort && first.opened.isEmpty)
        #expect(first.key?.publicKey == keys[0].publicKey)
        let (one, two) = (use(keys[0], "n-1"), use(last, "n-2", isLastResort: true))
        try run { table throws(StoreError) in
            try table.record(one)
            try table.record(one)
            try table.record(two)
        }
        #expect(try found(keys[0])?.key == nil && found(keys[0])?.opened == ["n-1"])
        #expect(try found(last)?.key?.publicKey == last.publicKey && found(last)?.opened == ["n-2"])
        #expect(try found(keys[1])?.key != nil)
        #expect(try found(.generate()) == nil)
        try run { table throws(StoreError) in try table.forget("d") }
        #expect(try found(keys[1]) == nil && found(last) == nil)
    }

    @Test(
        "each pair has its own; a prekey ends after 60 days, a replaced last resort after 7, and beyond 256 the oldest")
    func bounds() throws {
        let (old, other, last, next) = (Self.keys(3), Self.keys(1), AgreementKey.generate(), AgreementKey.generate())
        let day: Int64 = 86_400_000
        try run { table throws(StoreError) in
            try table.add(old, lastResort: last, for: "d", now: 0)
            try table.add(other, lastResort: nil, for: "e", now: 0)
            try table.add([], lastResort: next, for: "d", now: day)
        }
        #expect(try found(last, now: 8 * day - 1)?.isLastResort == true)
        #expect(try found(last, now: 8 * day) == nil)
        #expect(try found(next, now: 8 * day) != nil)
        #expect(try found(old[0], now: 60 * day - 1) != nil && found(old[0], now: 60 * day) == nil)
        try run { table throws(StoreError) in try table.add(Self.keys(256), lastResort: nil, for: "d", now: day) }
        #expect(try found(old[0]) == nil && found(old[2]) == nil && found(next) != nil)
        #expect(try found(other[0]) != nil)
        let count = try database.run { connection throws(StoreError) in
            try connection.integer("SELECT count(*) FROM prekey WHERE desktop = 'd' AND last_resort = 0")
        }
        #expect(count == PrekeyLimits.stored)
    }

    @Test("neither a last resort that still opens nor what a used prekey has opened is dropped for new prekeys")
    func counted() throws {
        let (used, retired, last) = (Self.keys(10), AgreementKey.generate(), AgreementKey.generate())
        let uses = used.enumerated().map { use($1, NotificationID("n-\($0)")) }
        try run { table throws(StoreError) in
            try table.add(used, lastResort: retired, for: "d", now: 1)
            for use in uses { try table.record(use) }
            try table.add([], lastResort: last, for: "d", now: 2)
            for _ in 0..<9 { try table.add(Self.keys(32), lastResort: nil, for: "d", now: 3) }
        }
        #expect(try found(retired, now: 3)?.key != nil && found(last, now: 3)?.key != nil)
        #expect(try found(used[0], now: 3)?.opened == ["n-0"])
        let unused = try database.run { connection throws(StoreError) in
            try connection.integer(
                "SELECT count(*) FROM prekey WHERE last_resort = 0 AND secret <> zeroblob(32)")
        }
        #expect(unused == PrekeyLimits.stored)
        let all = try database.run { connection throws(StoreError) in
            try connection.integer("SELECT count(*) FROM prekey")
        }
        #expect(all == PrekeyLimits.stored + 12)
    }

    @Test("what is too old goes for all desktops; without tokens only what used keys have opened stays")
    func ends() throws {
        let (old, keys, last) = (Self.keys(1), Self.keys(2), AgreementKey.generate())
        let (one, two) = (use(keys[0], "n-1"), use(last, "n-2", isLastResort: true))
        func count() throws -> Int64 {
            try database.run { connection throws(StoreError) in
                try connection.integer("SELECT count(*) FROM prekey")
            }
        }
        try run { table throws(StoreError) in
            try table.add(old, lastResort: nil, for: "e", now: 0)
            try table.add(keys, lastResort: last, for: "d", now: 1)
            try table.record(one)
            try table.record(two)
            try table.prune(now: PrekeyLimits.lifetime)
        }
        #expect(try count() == 3)
        try run { table throws(StoreError) in try table.removeUnused() }
        #expect(try count() == 1 && found(keys[0])?.opened == ["n-1"])
    }

    @Test("a hint is late when it waited for more than 5 minutes, before or after it was sealed")
    func late() {
        let now: Int64 = 10_000_000
        let live = now - PrekeyLimits.liveTime
        #expect(!DevicePrekeys.isLate(madeAt: live, sealedAt: live, now: now))
        #expect(!DevicePrekeys.isLate(madeAt: nil, sealedAt: nil, now: now))
        #expect(!DevicePrekeys.isLate(madeAt: now + 9_999_999, sealedAt: .max, now: now), "a clock that is ahead")
        #expect(DevicePrekeys.isLate(madeAt: nil, sealedAt: live - 1, now: now))
        #expect(DevicePrekeys.isLate(madeAt: live - 1, sealedAt: now, now: now))
        #expect(DevicePrekeys.isLate(madeAt: .min, sealedAt: .min, now: now))
    }

    @Test("the file has no used, replaced or forgotten secret any more")
    func wiped() throws {
        let folder = NSTemporaryDirectory() + "bellwire-prekeys-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/test.db"
        let (keys, forgotten) = (Self.keys(40), Self.keys(40))
        let file = try Database.open(path: path, migrations: PrekeyTable.migrations).database
        let uses = keys.prefix(39).enumerated().map { use($1, NotificationID("n-\($0)")) }
        try file.run { connection throws(StoreError) in
            let table = PrekeyTable(connection)
            try table.add(keys, lastResort: .generate(), for: "d", now: 1)
            try table.add(forgotten, lastResort: .generate(), for: "e", now: 1)
        }
        for use in uses { try file.run { connection throws(StoreError) in try PrekeyTable(connection).record(use) } }
        try file.run { connection throws(StoreError) in try PrekeyTable(connection).forget("e") }
        let closed = DispatchSemaphore(value: 0)
        file.close { closed.signal() }
        closed.wait()
        let bytes = try Data(contentsOf: URL(filePath: path))
        for key in keys.prefix(39) + forgotten {
            #expect(key.withSecretBytes { bytes.range(of: Data($0)) } == nil)
        }
        #expect(keys[39].withSecretBytes { bytes.range(of: Data($0)) } != nil)
    }

    @Test(
        "a desktop keeps the newest statement of a session, uses none for more than 30 days, and forgets with the pairing"
    )
    func statements() throws {
        func statement(_ count: Int) -> PrekeyStatement {
            PrekeyStatement(
                keys: Self.keys(count).map(\.publicKey), lastResort: AgreementKey.generate().publicKey)
        }
        let id = try #require(SessionID(bytes: [UInt8](repeating: 1, count: 16)))
        let next = try #require(SessionID(bytes: [UInt8](repeating: 2, count: 16)))
        let (first, second, third) = (statement(2), statement(3), statement(1))
        func apply(_ statement: PrekeyStatement, _ session: SessionID, _ counter: UInt64) throws -> Int? {
            try database.run { connection throws(StoreError) in
                try DevicePrekeyTable(connection).apply(
                    statement, SealMark(peer: "p", session: session, counter: counter), now: 1_000)?.left
            }
        }
        func stock(now: Int64 = 1_000) throws -> PrekeyStock {
            try database.run { connection throws(StoreError) in
                try DevicePrekeyTable(connection).stock(of: "p", now: now)
            }
        }
        #expect(try apply(second, id, 9) == 3)
        #expect(try apply(first, id, 8) == nil, "an older one that a relay held back")
        #expect(try apply(second, id, 9) == nil)
        var used = try stock()
        let taken = used.take()
        let entry = try #require(taken)
        try database.run { connection throws(StoreError) in
            try DevicePrekeyTable(connection).use(entry, of: "p", now: 1_000)
        }
        #expect(try stock() == used)
        #expect(try apply(second, id, 10) == 2)
        #expect(try apply(third, next, 0) == 1)
        #expect(try stock().entries.map(\.key) == third.keys + [third.lastResort])
        #expect(try stock(now: 1_000 + PrekeyLimits.use - 1).left == 1)
        #expect(try stock(now: 1_000 + PrekeyLimits.use).entries.isEmpty)
        try database.run { connection throws(StoreError) in try DevicePrekeyTable(connection).forget("p") }
        #expect(try stock().entries.isEmpty)
    }

    @Test("a used prekey stays used when a delayed statement of an earlier session states it again")
    func delayed() throws {
        let (id, next) = (
            try #require(SessionID(bytes: [UInt8](repeating: 1, count: 16))),
            try #require(SessionID(bytes: [UInt8](repeating: 2, count: 16)))
        )
        let statements = (0..<2).map { _ in
            PrekeyStatement(keys: Self.keys(2).map(\.publicKey), lastResort: AgreementKey.generate().publicKey)
        }
        func apply(_ statement: PrekeyStatement, _ session: SessionID, _ counter: UInt64) throws -> Int? {
            try database.run { connection throws(StoreError) in
                try DevicePrekeyTable(connection).apply(
                    statement, SealMark(peer: "p", session: session, counter: counter), now: 1_000)?.left
            }
        }
        #expect(try apply(statements[0], id, 1) == 2)
        try database.run { connection throws(StoreError) in
            let table = DevicePrekeyTable(connection)
            var stock = try table.stock(of: "p", now: 1_000)
            if let entry = stock.take() { try table.use(entry, of: "p", now: 1_000) }
        }
        #expect(try apply(statements[1], next, 1) == 2)
        #expect(try apply(statements[0], id, 2) == 1)
        let left = try database.run { connection throws(StoreError) in
            try DevicePrekeyTable(connection).stock(of: "p", now: 1_000).entries.first { !$0.isUsed }?.key
        }
        #expect(left == statements[0].keys[1])
    }
}
