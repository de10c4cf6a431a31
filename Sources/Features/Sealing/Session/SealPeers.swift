package import Identity
package import Store
package import Wire

/// The stored part of sessions, which is kept as long as the pairing: the minimum version, and the preshared key
/// (WireSessions, "Versions" and "Keys"). Nothing is written per frame.
package struct SealPeers {
    package struct Entry: Sendable, Equatable {
        package var policy: SealPolicy
        package var presharedKey: PresharedKey

        /// - Parameter policy: `nil` = that of a new pairing.
        package init(policy: SealPolicy? = nil, presharedKey: PresharedKey = .none()) {
            self.policy = policy ?? SealPolicy(isPinned: presharedKey.isFromPairing)
            self.presharedKey = presharedKey
        }
    }

    static let migrations = [
        Migration(
            "sealing.2",
            sql: """
                CREATE TABLE seal_peer (
                    peer TEXT PRIMARY KEY NOT NULL,
                    minimum INTEGER NOT NULL,
                    psk BLOB
                ) STRICT, WITHOUT ROWID;
                """)
    ]

    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    /// Damage is an error: a lower minimum would let version 1 in again.
    package func all() throws(StoreError) -> [PeerID: Entry] {
        let rows = try connection.query("SELECT peer, minimum, psk FROM seal_peer") { (row) throws(StoreError) in
            (PeerID(try row.text(0)), try Self.entry(try row.integer(1), try row.optionalBlob(2)))
        }
        return Dictionary(rows) { first, _ in first }
    }

    /// In the transaction that stores the pairing: the peer begins anew. With `nil` it has no preshared key.
    package func begin(_ peer: PeerID, presharedKey: PresharedKey?) throws(StoreError) {
        guard let presharedKey, presharedKey.isFromPairing else { return try begin(peer, .one, .null) }
        try presharedKey.withBytes { (bytes) throws(StoreError) in try begin(peer, .two, .blob(bytes)) }
    }

    private func begin(_ peer: PeerID, _ minimum: SealVersion, _ presharedKey: Value) throws(StoreError) {
        try connection.execute(
            """
            INSERT INTO seal_peer (peer, minimum, psk) VALUES (?, ?, ?) ON CONFLICT (peer) DO UPDATE SET
                minimum = excluded.minimum, psk = excluded.psk
            """, [.text(peer.text), .integer(minimum.rawValue), presharedKey])
    }

    /// The first session with the peer is complete: version 1 counts no more.
    package func complete(_ peer: PeerID) throws(StoreError) {
        try connection.execute(
            """
            INSERT INTO seal_peer (peer, minimum) VALUES (?, 2) ON CONFLICT (peer) DO UPDATE SET
                minimum = max(minimum, excluded.minimum)
            """, [.text(peer.text)])
    }

    /// The pairing has ended.
    package func forget(_ peer: PeerID) throws(StoreError) {
        try connection.execute("DELETE FROM seal_peer WHERE peer = ?", [.text(peer.text)])
    }

    /// The pairing of `peer` has ended, and this id of the same owner is still to be told: that takes the same key.
    package func copy(_ peer: PeerID, to id: PeerID) throws(StoreError) {
        try connection.execute(
            "INSERT OR REPLACE INTO seal_peer SELECT ?, minimum, psk FROM seal_peer WHERE peer = ?",
            [.text(id.text), .text(peer.text)])
    }

    /// At a start: of all others nothing is needed any more.
    package func keep(only ids: [PeerID]) throws(StoreError) {
        let kept = Set(ids)
        for peer in try all().keys where !kept.contains(peer) { try forget(peer) }
    }

    private static func entry(_ minimum: Int64, _ psk: consuming [UInt8]?) throws(StoreError) -> Entry {
        guard let policy = SealPolicy(stored: minimum) else {
            throw StoreError(.mismatch, "a peer's minimum seal version is damaged")
        }
        guard var bytes = consume psk else { return Entry(policy: policy) }
        defer { Identity.wipe(&bytes) }
        guard let key = PresharedKey(bytes: bytes) else {
            throw StoreError(.mismatch, "a peer's preshared key is damaged")
        }
        // With a key the minimum is 2 even if the row says 1: it may come from before keys implied that.
        return Entry(presharedKey: key)
    }
}
