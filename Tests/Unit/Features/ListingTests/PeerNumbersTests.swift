import Listing
import Store
import Testing
import Wire

@Suite struct PeerNumbersTests {
    private let database: Database

    init() throws { database = try Database.open(path: ":memory:", migrations: PeerNumbers.migrations).database }

    @Test("a peer has one number from its first use on, and the number leads back to it")
    func numbers() throws {
        let (first, again, other, unknown, back) = try database.run { (connection) throws(StoreError) in
            let peers = PeerNumbers(connection)
            let unknown = try peers.find("a")
            let first = try peers.number(of: "a")
            let other = try peers.number(of: "b")
            return (first, try peers.number(of: "a"), other, unknown, [try peers.peer(first), try peers.peer(other)])
        }
        #expect(unknown == nil)
        #expect(first == again && first != other)
        #expect(back == ["a", "b"])
        #expect(
            try database.run { (connection) throws(StoreError) in try PeerNumbers(connection).all() } == [
                first: "a", other: "b",
            ])
    }

    @Test("a number that was never made is an error")
    func unknownNumber() throws {
        #expect(throws: StoreError.self) {
            try database.run { (connection) throws(StoreError) in try PeerNumbers(connection).peer(7) }
        }
    }

    @Test("ids that a table holds as text get numbers, each once, and those that have one keep it")
    func adoption() throws {
        let numbers = try database.run { (connection) throws(StoreError) in
            let peers = PeerNumbers(connection)
            let kept = try peers.number(of: "b")
            try connection.executeScript(
                "CREATE TABLE old(peer TEXT); INSERT INTO old VALUES ('c'), ('b'), (NULL), ('a'), ('c')")
            try PeerNumbers.adopt("peer", of: "old", connection)
            return (kept, try peers.all())
        }
        #expect(numbers.1[numbers.0] == "b")
        #expect(Set(numbers.1.values) == ["a", "b", "c"] && numbers.1.count == 3)
    }
}
