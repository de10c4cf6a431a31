package import JSON
package import Store
package import Wire

/// A peer's key that is refused from now on (WireRekey, "Revocation").
package struct RevokedKey: Sendable, Equatable {
    package let id: PeerID
    /// What the peer was called; empty if it was not paired.
    package let name: String
    package let at: EpochMilliseconds
    /// The key that its owner has moved to; `nil` = it was revoked.
    package let successor: PeerID?

    package init(id: PeerID, name: String, at: EpochMilliseconds, successor: PeerID? = nil) {
        self.id = id
        self.name = name
        self.at = at
        self.successor = successor
    }

    /// As hosts see it: `{"id","name","at","movedTo"?}`.
    package var json: JSONValue {
        [
            "id": .string(id.text), "name": .string(name), "at": .integer(at),
            "movedTo": successor.map { .string($0.text) },
        ]
    }
}

/// The table of the keys that are refused, inside one piece of work of the store.
///
/// A row stays until a person removes it. No row gives way to another: that would let a stolen key in again. So a full
/// table refuses a new one.
package struct RevokedKeys {
    /// The most keys that are remembered.
    package static let limit: Int64 = 1_024

    static let migrations = [
        Migration(
            "revoked.1",
            sql: """
                CREATE TABLE revoked_key (
                    id TEXT PRIMARY KEY NOT NULL,
                    name TEXT NOT NULL,
                    at INTEGER NOT NULL,
                    -- The key that its owner has moved to. NULL = it was revoked.
                    successor TEXT
                ) STRICT, WITHOUT ROWID;
                """)
    ]

    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    /// Refuses all of these keys, or with `false` none.
    package func add(_ keys: [RevokedKey]) throws(StoreError) -> Bool {
        let count = try connection.integer("SELECT count(*) FROM revoked_key")
        guard count + Int64(keys.count) <= Self.limit || keys.count == 1 else { return false }
        for key in keys where try !add(key) { return false }
        return true
    }

    /// Refuses the key, in the transaction that removes what was kept of its peer. `false`: the table is full, and nothing
    /// has changed. A key that was moved away from may be revoked later, which keeps its name.
    package func add(_ key: RevokedKey) throws(StoreError) -> Bool {
        let isKnown = try contains(key.id)
        let count = try connection.integer("SELECT count(*) FROM revoked_key")
        guard isKnown || count < Self.limit else { return false }
        try connection.execute(
            """
            INSERT INTO revoked_key (id, name, at, successor) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
                name = iif(excluded.name = '', name, excluded.name), at = excluded.at, successor = excluded.successor
            """,
            [.text(key.id.text), .text(key.name), .integer(key.at), .optional(key.successor?.text)])
        return true
    }

    /// `false` if the key was not refused.
    package func remove(_ id: PeerID) throws(StoreError) -> Bool {
        try connection.execute("DELETE FROM revoked_key WHERE id = ?", [.text(id.text)]) > 0
    }

    package func contains(_ id: PeerID) throws(StoreError) -> Bool {
        try connection.integer("SELECT count(*) FROM revoked_key WHERE id = ?", [.text(id.text)]) > 0
    }

    /// The key that the owner of this one has in the end; `nil` = it was not moved away from.
    package func successor(of id: PeerID) throws(StoreError) -> PeerID? {
        var found: PeerID?
        // Rows can't form a loop; this bounds damaged ones.
        for _ in 0..<Self.limit {
            let next = try connection.first(
                "SELECT successor FROM revoked_key WHERE id = ? AND successor IS NOT NULL",
                [.text((found ?? id).text)]
            ) { (row) throws(StoreError) in PeerID(try row.text(0)) }
            guard let next else { return found }
            found = next
        }
        return found
    }

    /// Throws if one of these keys is refused. In the transaction that stores a pairing.
    package func check(_ ids: PeerID...) throws(StoreError) {
        for id in ids where try contains(id) { throw StoreError(.mismatch, "the peer's key was revoked") }
    }

    /// The oldest first.
    package func all() throws(StoreError) -> [RevokedKey] {
        try connection.query("SELECT id, name, at, successor FROM revoked_key ORDER BY at, id") {
            (row) throws(StoreError) in
            RevokedKey(
                id: PeerID(try row.text(0)), name: try row.text(1), at: try row.integer(2),
                successor: try row.optionalText(3).map { PeerID($0) })
        }
    }
}
