import Notifications
package import Store
import Wire

extension Inbox {
    /// How far pushes are on their way to the host, by their `arrival`.
    package struct Watermarks: Sendable, Equatable {
        /// The push that came last.
        package var last: Int64
        /// Every push through this one was handed over.
        package var handed: Int64
        /// No callback can have seen a push beyond this one.
        package var offered: Int64
        /// How many wait for the host.
        package var waiting: Int64
    }

    package func watermarks() throws(StoreError) -> Watermarks {
        let marks = try connection.first("SELECT last, handed, offered, waiting FROM inbox_host") {
            (row) throws(StoreError) in
            Watermarks(
                last: try row.integer(0), handed: try row.integer(1), offered: try row.integer(2),
                waiting: try row.integer(3))
        }
        guard let marks else { throw StoreError(.mismatch, "the inbox's watermarks are missing") }
        return marks
    }

    /// Pushes that wait for the host, in the order of arrival.
    ///
    /// - Parameters:
    ///   - limit: at most so many.
    ///   - arrival: only those beyond it; 0 for all.
    package func waitingForHost(limit: Int, after arrival: Int64) throws(StoreError) -> [Entry] {
        try connection.query(
            """
            SELECT \(Inbox.columns) FROM inbox
            WHERE arrival > max(?, (SELECT handed FROM inbox_host)) AND arrival > 0 ORDER BY arrival LIMIT ?
            """, [.integer(arrival), .integer(limit)], Inbox.entry)
    }

    /// How many wait for the host.
    package func waitingForHost() throws(StoreError) -> Int64 { try watermarks().waiting }

    /// Before a callback can see pushes through there. Never goes back.
    package func offer(through arrival: Int64) throws(StoreError) {
        try connection.execute(
            "UPDATE inbox_host SET offered = min(last, ?1) WHERE offered < min(last, ?1)", [.integer(arrival)])
    }

    /// After the host's callbacks have returned: every push through there was handed over.
    ///
    /// - Parameter next: the callbacks to come may see pushes through there.
    package func finish(through arrival: Int64, offering next: Int64) throws(StoreError) {
        let marks = try watermarks()
        guard arrival > marks.handed else { return try offer(through: next) }
        let through = min(arrival, marks.last)
        let count = try connection.integer(
            "SELECT count(*) FROM inbox WHERE arrival > ? AND arrival <= ? AND arrival > 0",
            [.integer(marks.handed), .integer(through)])
        // First the mark, so that the rows that go now count as handed over.
        try connection.execute(
            "UPDATE inbox_host SET handed = ?, offered = ?, waiting = waiting - ?",
            [.integer(through), .integer(max(marks.offered, through, min(next, marks.last))), .integer(count)])
        try connection.execute(
            "DELETE FROM inbox WHERE hidden = 2 AND arrival > ? AND arrival <= ?",
            [.integer(marks.handed), .integer(through)])
    }

    /// At a clean end: what was offered and not taken comes as new the next time.
    ///
    /// - Parameter arrival: a callback may have seen pushes through there, though they are not marked as handed over.
    package func withdrawOffer(beyond arrival: Int64) throws(StoreError) {
        try connection.execute(
            "UPDATE inbox_host SET offered = max(handed, ?1) WHERE offered > max(handed, ?1)", [.integer(arrival)])
    }

    /// Once after opening: sets right what the kept counts say. Gives whether anything was wrong.
    ///
    /// Reads indexes alone, and never more than the inbox may hold: ``limit`` rows and those that wait.
    @discardableResult
    package func repairCounts() throws(StoreError) -> Bool {
        let waiting = try connection.execute(
            """
            WITH real(n) AS (SELECT count(*) FROM inbox WHERE arrival > (SELECT handed FROM inbox_host) AND arrival > 0)
            UPDATE inbox_host SET waiting = (SELECT n FROM real) WHERE waiting <> (SELECT n FROM real)
            """)
        let marks = try connection.execute(
            """
            UPDATE inbox_host SET last = max(last, handed, (SELECT ifnull(max(arrival), 0) FROM inbox WHERE arrival > 0)),
                offered = min(max(offered, handed), max(last, handed))
            WHERE last < handed OR last < (SELECT ifnull(max(arrival), 0) FROM inbox WHERE arrival > 0)
                OR offered < handed OR offered > max(last, handed)
            """)
        let counts = try connection.execute(
            """
            INSERT INTO inbox_count
                SELECT t.desktop, t.n, ifnull(u.n, 0)
                FROM (SELECT desktop, count(*) AS n FROM inbox GROUP BY desktop) AS t
                LEFT JOIN (SELECT desktop, count(*) AS n FROM inbox WHERE read = 0 AND hidden = 0 GROUP BY desktop) AS u
                    USING (desktop)
                WHERE true
                ON CONFLICT (desktop) DO UPDATE SET total = excluded.total, unread = excluded.unread
                    WHERE (total, unread) <> (excluded.total, excluded.unread)
            """)
        let empty = try connection.execute(
            """
            UPDATE inbox_count SET total = 0, unread = 0
            WHERE (total, unread) <> (0, 0) AND NOT EXISTS (SELECT 1 FROM inbox AS i WHERE i.desktop = inbox_count.desktop)
            """)
        return waiting + marks + counts + empty > 0
    }
}
