package import Notifications
package import Store
package import Wire

// What a push brings about in the inbox: a row, one in the place of another, and room for it.
extension Inbox {
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
    /// With as many as these waiting for the host, no push is taken.
    package static let waitingLimit: Int64 = 100_000
    /// Pushes are offered to the host as they are stored while fewer than these wait.
    package static let offeredLimit: Int64 = 256

    /// Keeps a push that has come. One with a `collapseKey` takes the place of the one before it; where the host has had
    /// that one, it is told which.
    package func receive(_ notification: Notification, from desktop: PeerID) throws(StoreError) -> Arrival {
        var batch = try PushBatch(self, hostHasSeen: 0)
        let arrival = try batch.receive(notification, from: desktop).arrival
        try batch.finish(hostTakes: false)
        return arrival
    }

    /// Drops what is too old or too much; what waits for the host stays. Gives how many rows.
    @discardableResult
    package func prune(now: EpochMilliseconds) throws(StoreError) -> Int {
        let marks = try watermarks()
        let handed = Value.integer(marks.handed)
        var pruned = try connection.execute(
            "DELETE FROM inbox WHERE created_at < ? AND arrival <= ?", [.integer(now &- Self.lifetime), handed])
        let total = try connection.integer("SELECT ifnull(sum(total), 0) FROM inbox_count")
        // Never a look at those that wait when there is nothing else.
        let excess = min(total - Self.limit, total - marks.waiting)
        if excess > 0 {
            pruned += try connection.execute(
                """
                DELETE FROM inbox WHERE row IN
                    (SELECT row FROM inbox WHERE arrival <= ? ORDER BY created_at, row LIMIT ?)
                """, [handed, .integer(excess)])
        }
        return pruned
    }
}
