import Listing
package import Store
package import Wire

/// How far each desktop's pushes have come: the device stores only the next one (WireSealing, "Delivery of pushes").
///
/// Made for one piece of work on the store, over its connection: what it takes belongs into the transaction of the row
/// in the inbox.
package struct ReceivedPushes {
    /// Its first table. Now the numbers are in `push_count`.
    static let migration = Migration(
        "delivery.received.1",
        sql: """
            CREATE TABLE received_push (
                desktop TEXT PRIMARY KEY NOT NULL,
                last INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            """)

    package enum Verdict: Sendable, Equatable {
        /// It is the next one.
        case next
        /// It came before; `last` has come too.
        case duplicate(last: Int64)
        /// One before it is missing: it is not taken.
        case gap(last: Int64)
    }

    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    package func all() throws(StoreError) -> [PeerID: Int64] {
        let rows = try connection.query(
            "SELECT id, last FROM push_count JOIN peer ON number = push_count.peer WHERE last > 0"
        ) { (row) throws(StoreError) in
            (PeerID(try row.text(0)), try row.integer(1))
        }
        return Dictionary(rows) { first, _ in first }
    }

    /// 0 = none yet.
    package func last(of desktop: PeerID) throws(StoreError) -> Int64 {
        try connection.first("SELECT last FROM push_count WHERE peer = \(Inbox.number)", [.text(desktop.text)]) {
            (row) throws(StoreError) in try row.integer(0)
        } ?? 0
    }

    package func verdict(on seq: Int64, of desktop: PeerID) throws(StoreError) -> Verdict {
        let last = try last(of: desktop)
        guard seq > last else { return .duplicate(last: last) }
        return seq - last == 1 ? .next : .gap(last: last)
    }

    /// It is stored: counted.
    package func set(_ seq: Int64, of desktop: PeerID) throws(StoreError) {
        try connection.execute(
            "INSERT INTO push_count (peer, last) VALUES (?, ?) ON CONFLICT (peer) DO UPDATE SET last = excluded.last",
            [.integer(try PeerNumbers(connection).number(of: desktop)), .integer(seq)])
    }

    /// The desktop has nothing more up to there. Gives the last one now.
    package func skip(through seq: Int64, of desktop: PeerID) throws(StoreError) -> Int64 {
        let last = try last(of: desktop)
        guard seq > last else { return last }
        try set(seq, of: desktop)
        return seq
    }

    /// For a desktop that was unpaired: with the next pairing its desktop begins anew, or tells with a skip.
    package func forget(_ desktop: PeerID) throws(StoreError) {
        try connection.execute("UPDATE push_count SET last = 0 WHERE peer = \(Inbox.number)", [.text(desktop.text)])
    }
}
