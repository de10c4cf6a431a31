package import Notifications
package import Store
package import Wire

// What a push brings about in the inbox: a row, one in the place of another, and room for it.
extension Inbox {
    package static let deliveryMigrations = [
        Migration(
            "delivery.inbox.1",
            sql: """
                ALTER TABLE inbox ADD COLUMN replaces TEXT;
                CREATE INDEX inbox_collapse ON inbox(desktop, collapse_key) WHERE collapse_key IS NOT NULL;
                CREATE INDEX inbox_age ON inbox(created_at);
                """)
    ]

    /// What became of a push.
    package enum Arrival: Sendable, Equatable {
        /// A row, in the place of those with its `collapseKey`; it waits to be handed to the host.
        case stored(row: Int64, replaced: [NotificationID])
        /// It has a row already. Nothing has changed.
        case duplicate
        /// Too many wait for the host: it was not taken.
        case full
    }

    /// Rows that are kept, and for how long, in milliseconds. What waits for the host counts and is never dropped.
    package static let limit: Int64 = 10_000
    package static let lifetime: Int64 = 90 * 86_400_000
    /// With more than these waiting for the host, no push is taken.
    package static let waitingLimit: Int64 = 100_000
    /// The bounds are looked after at every so many rows.
    private static let prunedTogether: Int64 = 64

    /// Keeps a push that has come. One with a `collapseKey` takes the place of the one before it; where the host has had
    /// that one, it is told which.
    package func receive(_ notification: Notification, from desktop: PeerID) throws(StoreError) -> Arrival {
        if let last = try lastRow(), last % Self.prunedTogether == 0, try waitingForHost() >= Self.waitingLimit {
            return .full
        }
        let replaced = try notification.richer.collapseKey.flatMap { (key) throws(StoreError) in
            try rows(collapsedBy: key, of: desktop, but: notification.id)
        }
        guard case .inserted(let row) = try insert(notification, from: desktop) else { return .duplicate }
        for old in replaced ?? [] {
            try connection.execute("DELETE FROM inbox WHERE row = ?", [.integer(old.row)])
        }
        // What replaced something unseen is still new to the host; what that had replaced in turn, it has seen.
        if let seen = replaced?.lazy.compactMap(\.seen).last {
            try connection.execute(
                "UPDATE inbox SET replaces = ? WHERE row = ?", [.text(seen.text), .integer(row)])
        }
        if row % Self.prunedTogether == 0 { try prune(now: notification.receivedAt) }
        return .stored(row: row, replaced: (replaced ?? []).map(\.id))
    }

    /// The ids that the host knows, of what these rows have taken the place of.
    package func replacedIDs(of rows: [Int64]) throws(StoreError) -> [Int64: NotificationID] {
        var replaced: [Int64: NotificationID] = [:]
        for number in rows {
            let id = try connection.first("SELECT replaces FROM inbox WHERE row = ?", [.integer(number)]) {
                (row) throws(StoreError) in try row.optionalText(0)
            }
            if case .some(.some(let id)) = id { replaced[number] = NotificationID(id) }
        }
        return replaced
    }

    /// Lets go of what is too old or too much; what waits for the host stays. Gives how many rows.
    @discardableResult
    package func prune(now: EpochMilliseconds) throws(StoreError) -> Int {
        var pruned = try connection.execute(
            "DELETE FROM inbox WHERE created_at < ? AND handed = 2", [.integer(now &- Self.lifetime)])
        let excess = try connection.integer("SELECT count(*) FROM inbox") - Self.limit
        if excess > 0 {
            pruned += try connection.execute(
                """
                DELETE FROM inbox WHERE row IN
                    (SELECT row FROM inbox WHERE handed = 2 ORDER BY created_at, row LIMIT ?)
                """, [.integer(excess)])
        }
        return pruned
    }

    private func lastRow() throws(StoreError) -> Int64? {
        try connection.first("SELECT row FROM inbox ORDER BY row DESC LIMIT 1") { (row) throws(StoreError) in
            try row.integer(0)
        }
    }

    private struct Replaced {
        let row: Int64
        let id: NotificationID
        /// The id under which the host has seen it, or what it had replaced.
        let seen: NotificationID?
    }

    private func rows(
        collapsedBy key: String, of desktop: PeerID, but id: NotificationID
    ) throws(StoreError) -> [Replaced] {
        try connection.query(
            """
            SELECT row, id, CASE WHEN handed > 0 THEN id ELSE replaces END FROM inbox
            WHERE desktop = ? AND collapse_key = ? AND id <> ? ORDER BY row
            """, [.text(desktop.text), .text(key), .text(id.text)]
        ) { (row) throws(StoreError) in
            Replaced(
                row: try row.integer(0), id: NotificationID(try row.text(1)),
                seen: try row.optionalText(2).map(NotificationID.init(_:)))
        }
    }
}
