package import Store
import Wire

/// How many notifications there are: in all, unread, and of each day and kind. Kept, never counted.
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

        init(_ row: borrowing Row) throws(StoreError) {
            (day, source) = (try row.integer(0), try row.text(1))
            (priority, read) = (try row.integer(2), try row.flag(3))
        }

        init(day: Int64, source: String, priority: Int64, read: Bool) {
            (self.day, self.source, self.priority, self.read) = (day, source, priority, read)
        }

        func with(read: Bool) -> Kind { Kind(day: day, source: source, priority: priority, read: read) }
    }

    /// How many rows of each kind have come, less those that have gone.
    struct Change {
        private(set) var kinds: [Kind: Int64] = [:]

        var isEmpty: Bool { kinds.isEmpty }
        var total: Int64 { kinds.values.reduce(0, &+) }
        var unread: Int64 { kinds.reduce(0) { $1.key.read ? $0 : $0 &+ $1.value } }

        mutating func add(_ count: Int64, of kind: Kind) { kinds[kind, default: 0] &+= count }
    }

    package struct Totals: Sendable, Equatable {
        package let total: Int64
        package let unread: Int64
    }

    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    package func totals() throws(StoreError) -> Totals {
        try totals("SELECT total, unread FROM history_count")
    }

    @discardableResult
    func apply(_ change: Change) throws(StoreError) -> Totals {
        guard !change.isEmpty else { return try totals() }
        for (kind, count) in change.kinds where count != 0 {
            try connection.execute(
                "INSERT INTO history_tally VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n",
                [.integer(kind.day), .text(kind.source), .integer(kind.priority), .flag(kind.read), .integer(count)])
        }
        return try totals(
            "UPDATE history_count SET total = total + ?, unread = unread + ? RETURNING total, unread",
            [.integer(change.total), .integer(change.unread)])
    }

    /// All rows are read now.
    func allRead() throws(StoreError) {
        try connection.executeScript(
            """
            UPDATE history_count SET unread = 0;
            INSERT INTO history_tally SELECT day, source, priority, 1, n FROM history_tally WHERE read = 0
                ON CONFLICT DO UPDATE SET n = n + excluded.n;
            DELETE FROM history_tally WHERE read = 0;
            """)
    }

    /// All rows are gone.
    func clear() throws(StoreError) {
        try connection.executeScript(
            "DELETE FROM history_tally; UPDATE history_count SET total = 0, unread = 0;")
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
        var isWrong = false
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
        let isThere = try connection.integer("SELECT count(*) FROM history_count") == 1
        if isThere, try totals() == summed { return isWrong }
        try connection.execute(
            "INSERT INTO history_count VALUES (1, ?1, ?2) ON CONFLICT DO UPDATE SET total = ?1, unread = ?2",
            [.integer(summed.total), .integer(summed.unread)])
        return true
    }

    private func tally(_ sql: String) throws(StoreError) -> [Kind: Int64] {
        let rows = try connection.query(sql) { (row) throws(StoreError) in (try Kind(row), try row.integer(4)) }
        return Dictionary(rows) { first, _ in first }
    }

    private func totals(_ sql: String, _ values: [Value] = []) throws(StoreError) -> Totals {
        let totals = try connection.first(sql, values) { (row) throws(StoreError) in
            Totals(total: try row.integer(0), unread: try row.integer(1))
        }
        guard let totals else { throw StoreError(.corrupt, "the history's counters are missing") }
        return totals
    }
}
