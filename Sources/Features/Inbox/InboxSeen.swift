package import Notifications
package import Store
package import Wire

/// What the user of the device has seen of a desktop's notifications: what "all" means in a command that may reach the
/// desktop later (WireMessages, "Commands about everything").
///
/// Made for one piece of work on the store, over its connection.
package struct InboxSeen {
    private let connection: Connection
    private let desktop: PeerID
    /// Rows that came later were not there when the user asked.
    private let last: Int64

    package init(_ connection: Connection, of desktop: PeerID, through last: Int64 = .max) {
        self.connection = connection
        self.desktop = desktop
        self.last = last
    }

    /// Hints may be ahead of pushes that have not come yet, so they are no bound.
    private static let rows = "FROM inbox WHERE desktop = \(Inbox.number) AND row <= ? AND hidden < 2 AND hint <> 1"

    /// Up to the newest. Of a desktop of which the device has nothing: what is older than `moment`, when the user asked,
    /// and does not wait for this device.
    ///
    /// Some are newest by the desktop's clock, some by their order: the clock may have been set, and each of them may be
    /// gone from the desktop by then.
    package func bound(at moment: EpochMilliseconds) throws(StoreError) -> CommandBound {
        let half = CommandBound.limit / 2
        func newest(_ order: String) throws(StoreError) -> [(id: NotificationID, at: EpochMilliseconds)] {
            try connection.query(
                "SELECT id, created_at \(Self.rows) ORDER BY \(order) LIMIT \(half)",
                [.text(desktop.text), .integer(last)]
            ) { (row) throws(StoreError) in (id: NotificationID(try row.text(0)), at: try row.integer(1)) }
        }
        let byTime = try newest("created_at DESC, row DESC")
        guard let newestOne = byTime.first else { return CommandBound(ids: [], moment: moment) }
        var ids = byTime.map { $0.id }
        for one in try newest("arrival DESC") where !ids.contains(one.id) { ids.append(one.id) }
        return CommandBound(ids: ids, moment: newestOne.at)
    }

    /// The newest of those that a command about everything concerns.
    package func ids(_ kind: InboxEffect, limit: Int) throws(StoreError) -> [NotificationID] {
        let unread = kind.marks ? "AND said_read = 0" : ""
        return try connection.query(
            "SELECT id \(Self.rows) \(unread) ORDER BY created_at DESC, row DESC LIMIT ?",
            [.text(desktop.text), .integer(last), .integer(limit)]
        ) { (row) throws(StoreError) in NotificationID(try row.text(0)) }
    }
}
