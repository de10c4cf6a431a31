import Identity
import Sealing
import Store
import Wire

/// That a push was opened with a prekey: recorded in the transaction that stores the push (WirePrekeys, "Hints").
struct PrekeyUse: Sendable, Equatable {
    let prekey: PrekeyID
    let push: NotificationID
    let isLastResort: Bool
}

/// The secret halves of the prekeys that desktops have, inside one piece of work of the store.
///
/// A single-use one is overwritten with its use. The row stays, so that a payload that comes again is known.
struct PrekeyTable {
    static let migrations = [
        Migration(
            "prekeys.device.1",
            sql: """
                CREATE TABLE prekey (
                    number INTEGER PRIMARY KEY AUTOINCREMENT,
                    id BLOB NOT NULL UNIQUE,
                    desktop TEXT NOT NULL,
                    -- Zeros once it was used.
                    secret BLOB NOT NULL,
                    last_resort INTEGER NOT NULL,
                    made_at INTEGER NOT NULL,
                    -- When a last resort was replaced.
                    retired_at INTEGER
                ) STRICT;
                CREATE INDEX prekey_of ON prekey(desktop, number);
                CREATE TABLE prekey_use (
                    prekey INTEGER NOT NULL REFERENCES prekey(number) ON DELETE CASCADE,
                    push TEXT NOT NULL,
                    PRIMARY KEY (prekey, push)
                ) STRICT, WITHOUT ROWID;
                """)
    ]

    /// A prekey, as a sealed push names it.
    struct Found: Sendable {
        let desktop: PeerID
        /// `nil` = it was used.
        let key: AgreementKey?
        let isLastResort: Bool
        /// The pushes that it has opened.
        let opened: [NotificationID]
    }

    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// Stores new ones, before the desktop hears of them. A new last resort replaces the one before.
    func add(
        _ keys: [AgreementKey], lastResort: AgreementKey?, for desktop: PeerID, now: EpochMilliseconds
    ) throws(StoreError) {
        for key in keys { try add(key, isLastResort: false, desktop, now) }
        if let lastResort {
            try connection.execute(
                "UPDATE prekey SET retired_at = ? WHERE desktop = ? AND last_resort = 1 AND retired_at IS NULL",
                [.integer(now), .text(desktop.text)])
            try add(lastResort, isLastResort: true, desktop, now)
        }
        try prune(desktop, now)
    }

    private func add(
        _ key: AgreementKey, isLastResort: Bool, _ desktop: PeerID, _ now: EpochMilliseconds
    ) throws(StoreError) {
        try key.withSecretBytes { (secret) throws(StoreError) in
            _ = try connection.execute(
                "INSERT INTO prekey (id, desktop, secret, last_resort, made_at) VALUES (?, ?, ?, ?, ?)",
                [
                    .blob(PrekeyID(key.publicKey).bytes), .text(desktop.text), .blob(secret), .flag(isLastResort),
                    .integer(now),
                ])
        }
    }

    /// `nil` if this device has no such prekey: too old, another device's, or of a desktop that was unpaired since.
    func find(_ id: PrekeyID, now: EpochMilliseconds) throws(StoreError) -> Found? {
        let row = try connection.first(
            "SELECT number, desktop, secret, last_resort, made_at, retired_at FROM prekey WHERE id = ?",
            [.blob(id.bytes)]
        ) { (row) throws(StoreError) in
            (
                number: try row.integer(0), desktop: try row.text(1), secret: try row.blob(2),
                isLastResort: try row.flag(3), madeAt: try row.integer(4), retiredAt: try row.optionalInteger(5)
            )
        }
        guard var row, !Self.isOver(madeAt: row.madeAt, retiredAt: row.retiredAt, now) else { return nil }
        defer { Identity.wipe(&row.secret) }
        let opened = try connection.query("SELECT push FROM prekey_use WHERE prekey = ?", [.integer(row.number)]) {
            (row) throws(StoreError) in NotificationID(try row.text(0))
        }
        let isUsed = row.secret.allSatisfy { $0 == 0 }
        return Found(
            desktop: PeerID(row.desktop), key: isUsed ? nil : AgreementKey(secret: row.secret),
            isLastResort: row.isLastResort, opened: opened)
    }

    /// A push was opened. A single-use prekey ends with it.
    func record(_ use: PrekeyUse) throws(StoreError) {
        let id = Value.blob(use.prekey.bytes)
        if !use.isLastResort { try wipe("id = ?", [id]) }
        try connection.execute(
            "INSERT OR IGNORE INTO prekey_use SELECT number, ? FROM prekey WHERE id = ?", [.text(use.push.text), id])
    }

    /// The desktop is not paired any more, is paired anew, or has another key.
    func forget(_ desktop: PeerID) throws(StoreError) { try remove("desktop = ?", [.text(desktop.text)]) }

    /// The device has another key, and none of them was made for that (WireRekey, "Switch").
    func removeAll() throws(StoreError) { try remove("TRUE", []) }

    /// No push service has a token any more: nothing opens that was not opened yet.
    func removeUnused() throws(StoreError) {
        try remove("last_resort = 1 OR number NOT IN (SELECT prekey FROM prekey_use)", [])
    }

    // MARK: Inside

    private static func isOver(madeAt: Int64, retiredAt: Int64?, _ now: EpochMilliseconds) -> Bool {
        if madeAt <= now &- PrekeyLimits.lifetime { return true }
        return retiredAt.map { $0 <= now &- PrekeyLimits.retirement } ?? false
    }

    /// Drops what is too old, and the oldest single-use ones beyond the bound. Used and unused ones count apart, so that
    /// neither displaces the other. A last resort, of which there is one a day and one for each start, only ends by time.
    private func prune(_ desktop: PeerID, _ now: EpochMilliseconds) throws(StoreError) {
        try prune(now: now)
        for isUsed in [false, true] {
            try remove(
                """
                number IN (SELECT number FROM prekey WHERE desktop = ? AND last_resort = 0
                    AND (number IN (SELECT prekey FROM prekey_use)) = ? ORDER BY number DESC LIMIT -1 OFFSET ?)
                """, [.text(desktop.text), .flag(isUsed), .integer(PrekeyLimits.stored)])
        }
    }

    /// Drops what is too old, of every desktop.
    func prune(now: EpochMilliseconds) throws(StoreError) {
        try remove(
            "made_at <= ? OR retired_at <= ?",
            [.integer(now &- PrekeyLimits.lifetime), .integer(now &- PrekeyLimits.retirement)])
    }

    /// - Parameter condition: not on the secret, which is wiped first.
    private func remove(_ condition: String, _ values: [Value]) throws(StoreError) {
        try wipe(condition, values)
        try connection.execute("DELETE FROM prekey WHERE \(condition)", values)
    }

    /// A value of the same length takes the secret's place in the file; a deleted row could stay there.
    private func wipe(_ condition: String, _ values: [Value]) throws(StoreError) {
        try connection.execute("UPDATE prekey SET secret = zeroblob(32) WHERE \(condition)", values)
    }
}
