import Notifications
package import Store
import Wire

/// How many notifications there are: in all, unread, and of each day and kind. Kept, never counted.
///
/// What every push changes is one row of `push_count`, beside the devices' positions: one page. The days and kinds,
/// `history_tally`, follow after some rows, or when somebody asks.
///
/// Made for one piece of work on the store, over its connection. Whatever changes rows applies a ``Change`` in the same
/// transaction.
package struct HistoryCounts {
    /// The rows that are counted together.
    struct Kind: Hashable {
        let day: Int64
        let source: String
        let priority: Int64
        let read: Bool

        /// The columns from which ``init(_:)`` reads one.
        static let columns = "created_at / 86400000, source, priority, read"

        init(_ row: borrowing Row, from first: Int32 = 0) throws(StoreError) {
            (day, source) = (try row.integer(first), try row.text(first + 1))
            (priority, read) = (try row.integer(first + 2), try row.flag(first + 3))
        }

        init(day: Int64, source: String, priority: Int64, read: Bool) {
            (self.day, self.source, self.priority, self.read) = (day, source, priority, read)
        }

        func with(read: Bool) -> Kind { Kind(day: day, source: source, priority: priority, read: read) }
    }

    /// How many rows have come, less those that have gone.
    struct Change {
        /// The tally has rows through this one alone.
        let tallied: Int64
        private(set) var total: Int64 = 0
        private(set) var unread: Int64 = 0
        /// Of those that the tally has.
        private(set) var kinds: [Kind: Int64] = [:]

        init(tallied: Int64) { self.tallied = tallied }

        /// A new row.
        mutating func add(_ notification: Notification) {
            total &+= 1
            if !notification.read { unread &+= 1 }
        }

        mutating func add(_ count: Int64, _ row: Int64, of kind: Kind) {
            total &+= count
            if !kind.read { unread &+= count }
            if row <= tallied { kinds[kind, default: 0] &+= count }
        }
    }

    package struct Totals: Sendable, Equatable {
        package let total: Int64
        package let unread: Int64
    }

    struct Stored {
        /// The newest row; no row has had a higher number.
        var last: Int64
        /// Through which row the tally counts.
        var tallied: Int64
        var totals: Totals
    }

    /// Rows that the tally takes in together.
    private static let talliedTogether: Int64 = 64

    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    package func totals() throws(StoreError) -> Totals { try stored().totals }

    func stored() throws(StoreError) -> Stored {
        try stored("SELECT last, tallied, total, unread FROM push_count WHERE peer = 0")
    }

    /// - Parameter last: the last new row.
    @discardableResult
    func apply(_ change: Change, last: Int64 = 0) throws(StoreError) -> Stored {
        for (kind, count) in change.kinds where count != 0 {
            try connection.execute(
                "INSERT INTO history_tally VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n",
                [.integer(kind.day), .text(kind.source), .integer(kind.priority), .flag(kind.read), .integer(count)])
        }
        var stored = try stored(
            """
            UPDATE push_count SET last = max(last, ?), total = total + ?, unread = unread + ? WHERE peer = 0
            RETURNING last, tallied, total, unread
            """, [.integer(last), .integer(change.total), .integer(change.unread)])
        if stored.last &- stored.tallied >= Self.talliedTogether { try tally(&stored) }
        return stored
    }

    /// Brings the tally up to the newest row.
    func tally() throws(StoreError) {
        var stored = try stored()
        try tally(&stored)
    }

    private func tally(_ stored: inout Stored) throws(StoreError) {
        guard stored.tallied < stored.last else { return }
        try connection.execute(
            """
            INSERT INTO history_tally SELECT \(Kind.columns), count(*) FROM history WHERE row > ? GROUP BY 1, 2, 3, 4
                ON CONFLICT DO UPDATE SET n = n + excluded.n
            """, [.integer(stored.tallied)])
        try connection.execute("UPDATE push_count SET tallied = last WHERE peer = 0")
        stored.tallied = stored.last
    }

    /// All rows are read now.
    func allRead() throws(StoreError) {
        try connection.executeScript(
            """
            UPDATE push_count SET unread = 0 WHERE peer = 0;
            INSERT INTO history_tally SELECT day, source, priority, 1, n FROM history_tally WHERE read = 0
                ON CONFLICT DO UPDATE SET n = n + excluded.n;
            DELETE FROM history_tally WHERE read = 0;
            """)
    }

    /// All rows are gone.
    func clear() throws(StoreError) {
        try connection.executeScript(
            "DELETE FROM history_tally; UPDATE push_count SET total = 0, unread = 0, tallied = last WHERE peer = 0;")
    }

    /// Days and kinds of which nothing is left. Once a day.
    package func sweep() throws(StoreError) { try connection.execute("DELETE FROM history_tally WHERE n = 0") }

    /// How many rows a check on open counts itself; of a longer history it compares the sums of its days.
    package static let repairLimit: Int64 = 20_000

    /// Puts counts right that do not fit, as after damage. Its cost has a bound: see ``repairLimit``.
    ///
    /// Gives whether something was wrong.
    @discardableResult
    package func repair(limit: Int64 = repairLimit) throws(StoreError) -> Bool {
        let rows = try connection.integer("SELECT count(*) FROM (SELECT 1 FROM history LIMIT ?)", [.integer(limit + 1)])
        var isWrong = try repairLast()
        try tally()
        if rows <= limit {
            let counted = try tally("SELECT \(Kind.columns), count(*) FROM history GROUP BY 1, 2, 3, 4")
            if counted != (try tally("SELECT day, source, priority, read, n FROM history_tally WHERE n <> 0")) {
                isWrong = true
                try connection.execute("DELETE FROM history_tally")
                try connection.execute(
                    "INSERT INTO history_tally SELECT \(Kind.columns), count(*) FROM history GROUP BY 1, 2, 3, 4")
            }
        }
        let summed = try totals(
            "SELECT ifnull(sum(n), 0), ifnull(sum(n) FILTER (WHERE read = 0), 0) FROM history_tally")
        if try totals() == summed { return isWrong }
        try connection.execute(
            "UPDATE push_count SET total = ?1, unread = ?2 WHERE peer = 0",
            [.integer(summed.total), .integer(summed.unread)])
        return true
    }

    /// The number of the newest row, and through which row the tally counts.
    private func repairLast() throws(StoreError) -> Bool {
        let added = try connection.execute("INSERT OR IGNORE INTO push_count (peer, last) VALUES (0, 0)")
        let newest = try connection.integer("SELECT ifnull(max(row), 0) FROM history")
        let last = try connection.execute(
            "UPDATE push_count SET last = ?1 WHERE peer = 0 AND last NOT BETWEEN ?1 AND 1 << 53", [.integer(newest)])
        let tallied = try connection.execute(
            "UPDATE push_count SET tallied = last WHERE peer = 0 AND tallied NOT BETWEEN 0 AND last")
        return added + last + tallied > 0
    }

    private func tally(_ sql: String) throws(StoreError) -> [Kind: Int64] {
        let rows = try connection.query(sql) { (row) throws(StoreError) in (try Kind(row), try row.integer(4)) }
        return Dictionary(rows) { first, _ in first }
    }

    private func totals(_ sql: String) throws(StoreError) -> Totals {
        let totals = try connection.first(sql) { (row) throws(StoreError) in
            Totals(total: try row.integer(0), unread: try row.integer(1))
        }
        return totals ?? Totals(total: 0, unread: 0)
    }

    private func stored(_ sql: String, _ values: [Value] = []) throws(StoreError) -> Stored {
        let stored = try connection.first(sql, values) { (row) throws(StoreError) in
            Stored(
                last: try row.integer(0), tallied: try row.integer(1),
                totals: Totals(total: try row.integer(2), unread: try row.integer(3)))
        }
        guard let stored else { throw StoreError(.corrupt, "the history's counters are missing") }
        return stored
    }
}
