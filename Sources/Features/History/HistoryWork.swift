package import Delivery
import Listing
import Notifications
package import Store
package import Wire

/// One piece of work on the store that stores pushes: what several of them share is read once and written once.
///
/// Belongs to that piece of work and to the store's thread. Everything is in the transaction when ``finish()`` has
/// returned.
package final class HistoryWork {
    package let connection: Connection
    private var settings: DesktopSettings?
    private var outbox: OutboxWriter
    private var change = HistoryCounts.Change()
    /// Rows that a push with the same `collapseKey` replaces.
    private var replaced: [Int64] = []
    private var now: EpochMilliseconds = 0

    package init(_ connection: Connection) {
        self.connection = connection
        outbox = OutboxWriter(connection)
    }

    /// The desktop's settings, as they are in this piece of work.
    func currentSettings() throws(StoreError) -> DesktopSettings {
        if let settings { return settings }
        let current = try SettingsTable(connection).current().settings
        settings = current
        return current
    }

    /// Keeps a notification. Gives its row.
    func insert(
        _ notification: Notification, icon: String?, target: PeerID?, pruning now: EpochMilliseconds
    ) throws(StoreError) -> Int64 {
        let history = History(connection)
        replaced += try history.rows(replacedBy: notification, target: target)
        try history.insertRow(notification, icon: icon, target: target)
        change.add(1, of: HistoryCounts.Kind(notification))
        self.now = now
        return connection.lastInsertRow
    }

    /// Puts a push in the outboxes, referring to its row.
    package func enqueue(
        _ event: NotificationEvent, row: Int64, to recipients: [Outbox.Recipient], now: EpochMilliseconds
    ) throws(StoreError) -> [PeerID: Int64] {
        try outbox.enqueue(event, row: row, to: recipients, now: now)
    }

    /// Writes the counts and positions, and lets go what is replaced, too old or too much. Gives the counts now.
    @discardableResult
    package func finish() throws(StoreError) -> HistoryCounts.Totals {
        try outbox.finish()
        // A setting may change after this.
        defer { settings = nil }
        let history = History(connection)
        for row in replaced { try history.letGo("row = ?", .integer(row), counting: &change) }
        replaced = []
        guard !change.isEmpty else { return try HistoryCounts(connection).totals() }
        let added = change
        change = HistoryCounts.Change()
        let totals = try HistoryCounts(connection).apply(added)
        return try history.prune(try currentSettings(), now: now, totals).totals
    }
}

extension HistoryCounts.Kind {
    init(_ notification: Notification) {
        self.init(
            day: notification.createdAt / History.dayLength, source: notification.source.rawValue,
            priority: notification.priority.rawValue, read: notification.read)
    }
}
