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
    private var counted: Counted?
    /// Rows that a push with the same `collapseKey` replaces.
    private var replaced: [Int64] = []
    private var now: EpochMilliseconds = 0

    /// What new rows change, from the first to ``finish()``.
    private struct Counted {
        var change: HistoryCounts.Change
        var last: Int64

        init(_ stored: HistoryCounts.Stored) {
            change = HistoryCounts.Change(tallied: stored.tallied)
            last = stored.last
        }
    }

    /// A long history may be longer than it should by this, so that not every push takes a row out.
    private static let slack: Int64 = 63
    private static let longHistory: Int64 = 4_096

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
        var counted: Counted
        if let known = self.counted {
            counted = known
        } else {
            counted = Counted(try HistoryCounts(connection).stored())
        }
        counted.last &+= 1
        try history.insertRow(counted.last, notification, icon: icon, target: target)
        counted.change.add(notification)
        self.counted = counted
        self.now = now
        return counted.last
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
        let counts = HistoryCounts(connection)
        guard var counted else { return try counts.totals() }
        self.counted = nil
        let history = History(connection)
        for row in replaced { try history.letGo("row = ?", .integer(row), counting: &counted.change) }
        replaced = []
        let stored = try counts.apply(counted.change, last: counted.last)
        let settings = try currentSettings()
        let slack = settings.retentionRows < Self.longHistory ? 0 : Self.slack
        return try history.prune(settings, now: now, stored, slack: slack).totals
    }
}
