import Store
import Testing
import Wire

@testable import Sealing

/// The keys that are refused, in their table (WireRekey, "Revocation").
struct RevokedKeysTests {
    private func store<T: Sendable>(_ work: @escaping @Sendable (RevokedKeys) throws(StoreError) -> T) throws -> T {
        let database = try Database.open(path: ":memory:", migrations: SealStates.migrations).database
        defer { database.close() }
        return try database.run { (connection) throws(StoreError) in try work(RevokedKeys(connection)) }
    }

    @Test("a key is refused until it is removed, and only then")
    func removal() throws {
        try store { (keys) throws(StoreError) in
            #expect(try keys.all() == [])
            #expect(try keys.add(RevokedKey(id: "a", name: "Phone", at: 1)))
            #expect(try keys.contains("a"))
            #expect(throws: StoreError.self) { try keys.check("b", "a") }
            try keys.check("b", "c")
            #expect(try keys.remove("a"))
            #expect(try !keys.remove("a"))
            #expect(try !keys.contains("a"))
        }
    }

    @Test("a key that its owner moved away from can be revoked, and keeps its name")
    func revokedLater() throws {
        try store { (keys) throws(StoreError) in
            #expect(try keys.add(RevokedKey(id: "a", name: "Phone", at: 1, successor: "b")))
            #expect(try keys.all().first?.successor == "b")
            #expect(try keys.add(RevokedKey(id: "a", name: "", at: 2)))
            #expect(try keys.all() == [RevokedKey(id: "a", name: "Phone", at: 2)])
        }
    }

    @Test("a full table of 1,024 refuses a new key, and gives up none of those it has")
    func bounded() throws {
        #expect(RevokedKeys.limit == 1_024)
        try store { (keys) throws(StoreError) in
            for number in 0..<RevokedKeys.limit {
                #expect(try keys.add(RevokedKey(id: PeerID("key-\(number)"), name: "", at: number)))
            }
            #expect(try !keys.add(RevokedKey(id: "late", name: "", at: 5_000)))
            #expect(try keys.add(RevokedKey(id: "key-0", name: "", at: 5_000)))
            #expect(try keys.all().count == Int(RevokedKeys.limit))
            #expect(try !keys.contains("late"))
            #expect(try keys.remove("key-7"))
            #expect(try keys.add(RevokedKey(id: "late", name: "", at: 5_000)))
        }
    }
}
