package import Store
package import Wire

/// The devices that are still to be told that they are not paired any more, inside one piece of work of the store.
///
/// `bellwire:unpair` has no answer, and whoever unpairs may have no relay at that moment. So it is said again: when a relay
/// has us registered, and when the device speaks. Until the device is paired again, or for ``lifetime``.
package struct UnpairNotices {
    /// How long a device is told, in milliseconds: 30 days.
    package static let lifetime: EpochMilliseconds = 30 * 24 * 60 * 60 * 1_000
    /// How many devices are remembered; the oldest give way.
    package static let limit = 128

    package static let migrations = [
        Migration(
            "pairing.notices.1",
            sql: """
                CREATE TABLE unpair_notice (
                    did TEXT PRIMARY KEY NOT NULL,
                    since INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                """)
    ]

    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    /// The device is to be told. In the transaction that removes it.
    package func add(_ did: PeerID, at now: EpochMilliseconds) throws(StoreError) {
        try connection.execute(
            "INSERT INTO unpair_notice (did, since) VALUES (?, ?) ON CONFLICT (did) DO UPDATE SET since = excluded.since",
            [.text(did.text), .integer(now)])
        try connection.execute(
            """
            DELETE FROM unpair_notice WHERE did NOT IN (
                SELECT did FROM unpair_notice ORDER BY since DESC, did LIMIT ?
            )
            """, [.integer(Int64(Self.limit))])
    }

    /// It is paired again. In the transaction that stores it.
    package func remove(_ did: PeerID) throws(StoreError) {
        try connection.execute("DELETE FROM unpair_notice WHERE did = ?", [.text(did.text)])
    }

    /// Those that are to be told; whose time is over are forgotten, and who is paired.
    package func all(now: EpochMilliseconds) throws(StoreError) -> [PeerID] {
        try connection.execute(
            "DELETE FROM unpair_notice WHERE since < ? OR did IN (SELECT did FROM paired_device)",
            [.integer(now.later(by: -Self.lifetime))])
        return try connection.query("SELECT did FROM unpair_notice ORDER BY since, did", []) {
            (row) throws(StoreError) in PeerID(try row.text(0))
        }
    }
}
