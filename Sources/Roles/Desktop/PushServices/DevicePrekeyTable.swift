import Identity
import Sealing
import Store
import Wire

/// The prekeys that devices have stated, inside one piece of work of the store (WirePrekeys, "Publication").
///
/// Only public keys: at most one statement of each paired device, and which keys were used.
struct DevicePrekeyTable {
    static let migrations = [
        Migration(
            "prekeys.desktop.1",
            sql: """
                CREATE TABLE device_prekey (
                    device TEXT NOT NULL,
                    -- The order of use.
                    place INTEGER NOT NULL,
                    key BLOB NOT NULL,
                    last_resort INTEGER NOT NULL,
                    PRIMARY KEY (device, place)
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE device_prekey_statement (
                    device TEXT PRIMARY KEY NOT NULL,
                    epoch INTEGER NOT NULL,
                    seq INTEGER NOT NULL,
                    received_at INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                -- Apart from the statements: a delayed one of an earlier session may state a used key again.
                CREATE TABLE device_prekey_used (
                    device TEXT NOT NULL,
                    key BLOB NOT NULL,
                    used_at INTEGER NOT NULL,
                    PRIMARY KEY (device, key)
                ) STRICT, WITHOUT ROWID;
                """)
    ]

    private static let tables = ["device_prekey", "device_prekey_statement", "device_prekey_used"]

    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// A device has stated its prekeys, in a frame with this mark. Gives its stock then; `nil` for a frame that is older
    /// than the last one of the same session.
    func apply(
        _ statement: PrekeyStatement, _ mark: SealMark, now: EpochMilliseconds
    ) throws(StoreError) -> PrekeyStock? {
        let device = Value.text(mark.peer.text)
        let last = try connection.first(
            "SELECT epoch, seq FROM device_prekey_statement WHERE device = ?", [device]
        ) { (row) throws(StoreError) in (try row.integer(0), try row.integer(1)) }
        // Sessions have no order among each other: only one at a time is current.
        if let last, last.0 == mark.epoch, mark.seq <= last.1 { return nil }
        try connection.execute(
            """
            INSERT INTO device_prekey_statement VALUES (?, ?, ?, ?) ON CONFLICT (device) DO UPDATE SET
                epoch = excluded.epoch, seq = excluded.seq, received_at = excluded.received_at
            """, [device, .integer(mark.epoch), .integer(mark.seq), .integer(now)])
        var stock = PrekeyStock()
        stock.apply(statement)
        try connection.execute(
            "DELETE FROM device_prekey_used WHERE used_at <= ?", [.integer(now &- PrekeyLimits.lifetime)])
        try connection.execute("DELETE FROM device_prekey WHERE device = ?", [device])
        for (place, entry) in stock.entries.enumerated() {
            try connection.execute(
                "INSERT INTO device_prekey VALUES (?, ?, ?, ?)",
                [device, .integer(place), .blob(entry.key.bytes), .flag(entry.isLastResort)])
        }
        // With what was used under earlier statements.
        return try stored(of: mark.peer)
    }

    /// What may be used now: empty if the device has stated none for a long time.
    func stock(of device: PeerID, now: EpochMilliseconds) throws(StoreError) -> PrekeyStock {
        let receivedAt = try connection.first(
            "SELECT received_at FROM device_prekey_statement WHERE device = ?", [.text(device.text)]
        ) { (row) throws(StoreError) in try row.integer(0) }
        guard let receivedAt, receivedAt > now &- PrekeyLimits.use else { return PrekeyStock() }
        return try stored(of: device)
    }

    /// A push was sealed to it.
    func use(_ entry: PrekeyStock.Entry, of device: PeerID, now: EpochMilliseconds) throws(StoreError) {
        guard !entry.isLastResort else { return }
        try connection.execute(
            "INSERT OR IGNORE INTO device_prekey_used VALUES (?, ?, ?)",
            [.text(device.text), .blob(entry.key.bytes), .integer(now)])
    }

    /// It is not paired any more, is paired anew, or has another key.
    func forget(_ device: PeerID) throws(StoreError) {
        for table in Self.tables {
            try connection.execute("DELETE FROM \(table) WHERE device = ?", [.text(device.text)])
        }
    }

    /// The desktop has another key, and none of them was stated to that (WireRekey, "Switch").
    func removeAll() throws(StoreError) {
        for table in Self.tables { try connection.execute("DELETE FROM \(table)") }
    }

    private func stored(of device: PeerID) throws(StoreError) -> PrekeyStock {
        let rows = try connection.query(
            """
            SELECT key, last_resort, EXISTS (SELECT 1 FROM device_prekey_used AS u WHERE u.device = p.device AND u.key = p.key)
            FROM device_prekey AS p WHERE device = ? ORDER BY place
            """, [.text(device.text)]
        ) { (row) throws(StoreError) in (try row.blob(0), try row.flag(1), try row.flag(2)) }
        var entries: [PrekeyStock.Entry] = []
        for (bytes, isLastResort, isUsed) in rows {
            // A damaged key is one the fewer.
            guard let key = try? AgreementPublicKey(bytes: bytes) else { continue }
            entries.append(PrekeyStock.Entry(key: key, isLastResort: isLastResort, isUsed: isUsed))
        }
        return PrekeyStock(entries)
    }
}
