package import Store
package import Wire

/// Peers as integers inside one database file.
///
/// A peer's id is a text of 56 bytes or more. Tables that hold many rows of a few peers, and the indexes over them, hold
/// the peer's number instead. A number is made on first use and never changes or disappears: rows may outlive a pairing.
/// There are as many as peers were ever known, which is few.
///
/// Made for one piece of work on the store, over its connection.
package struct PeerNumbers {
    /// To run before any migration that turns ids into numbers.
    package static let migrations = [
        Migration(
            "peer.1",
            sql: """
                CREATE TABLE peer (
                    number INTEGER PRIMARY KEY AUTOINCREMENT,
                    id TEXT NOT NULL UNIQUE
                ) STRICT;
                """)
    ]

    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    /// The peer's number, made if need be.
    package func number(of peer: PeerID) throws(StoreError) -> Int64 {
        if let number = try find(peer) { return number }
        try connection.execute("INSERT INTO peer(id) VALUES (?)", [.text(peer.text)])
        return connection.lastInsertRow
    }

    /// `nil` for a peer that has none: then no table has a row of it.
    package func find(_ peer: PeerID) throws(StoreError) -> Int64? {
        try connection.first("SELECT number FROM peer WHERE id = ?", [.text(peer.text)]) { (row) throws(StoreError) in
            try row.integer(0)
        }
    }

    /// The peer that has this number. An error for a number that was never made: the file is inconsistent.
    package func peer(_ number: Int64) throws(StoreError) -> PeerID {
        let id = try connection.first("SELECT id FROM peer WHERE number = ?", [.integer(number)]) {
            (row) throws(StoreError) in PeerID(try row.text(0))
        }
        guard let id else { throw StoreError(.mismatch, "a row refers to an unknown peer") }
        return id
    }

    /// The peer has another key: all rows that have its number are the new id's (WireRekey, "Switch"). `false`: rows of the
    /// new id exist already, and nothing has changed.
    package func move(_ old: PeerID, to new: PeerID) throws(StoreError) -> Bool {
        guard try find(new) == nil else { return false }
        try connection.execute("UPDATE peer SET id = ? WHERE id = ?", [.text(new.text), .text(old.text)])
        return true
    }

    /// All peers by number, for a query that reads rows of many.
    package func all() throws(StoreError) -> [Int64: PeerID] {
        let rows = try connection.query("SELECT number, id FROM peer") { (row) throws(StoreError) in
            (try row.integer(0), PeerID(try row.text(1)))
        }
        return Dictionary(rows) { first, _ in first }
    }

    /// Gives a number to each id that stands in a column of text, in the order of the ids. For migrations.
    package static func adopt(_ column: String, of table: String, _ connection: Connection) throws(StoreError) {
        try connection.execute(
            """
            INSERT INTO peer(id) SELECT DISTINCT \(column) FROM \(table)
                WHERE \(column) IS NOT NULL AND \(column) NOT IN (SELECT id FROM peer) ORDER BY 1
            """)
    }
}
