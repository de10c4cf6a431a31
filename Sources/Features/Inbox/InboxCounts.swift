package import Store
package import Wire

/// How many rows each desktop has, and how many are unread: their rows in `push_count`.
///
/// Made for one piece of work on the store, over its connection. Triggers and ``PushBatch`` keep the counts.
package struct InboxCounts {
    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    /// Unread notifications of all desktops, including silenced and late ones and those that the inbox doesn't have. A
    /// desktop's share is never negative. Reads one or two rows per desktop.
    package func unread() throws(StoreError) -> Int64 {
        try connection.integer("SELECT ifnull(sum(max(0, n)), 0) FROM (\(Self.unreadRows) GROUP BY desktop)")
    }

    package func unread(of desktop: PeerID) throws(StoreError) -> Int64 {
        try connection.integer(
            """
            SELECT max(0, ifnull(sum(n), 0)) FROM (\(Self.unreadRows) GROUP BY desktop) WHERE desktop = \(Inbox.number)
            """, [.text(desktop.text)])
    }

    /// Rows that the inbox doesn't have count, unless everything from their desktop is being marked or cleared.
    private static let unreadRows = """
        SELECT desktop, sum(n) AS n FROM (
            SELECT peer AS desktop, unread AS n FROM push_count WHERE peer > 0
            UNION ALL
            SELECT desktop, beyond FROM inbox_desktop WHERE beyond <> 0 AND NOT EXISTS (
                SELECT 1 FROM inbox_change AS c
                WHERE c.desktop = inbox_desktop.desktop AND c.stage = 0 AND c.kind IN (1, 3))
        )
        """

    /// Called once after opening: corrects the stored counts. Returns whether any was wrong.
    ///
    /// Reads only indexes, and never more than the inbox may hold: ``Inbox/limit`` rows and those that wait.
    @discardableResult
    package func repair() throws(StoreError) -> Bool {
        let waiting = try connection.execute(
            """
            WITH real(n) AS (
                SELECT count(*) FROM inbox
                WHERE arrival > (SELECT handed FROM push_count WHERE peer = 0) AND arrival > 0)
            UPDATE push_count SET waiting = (SELECT n FROM real) WHERE peer = 0 AND waiting <> (SELECT n FROM real)
            """)
        let marks = try connection.execute(
            """
            UPDATE push_count SET
                last = max(last, handed, (SELECT ifnull(max(arrival), 0) FROM inbox WHERE arrival > 0)),
                offered = min(max(offered, handed), max(last, handed))
            WHERE peer = 0 AND (
                last < handed OR last < (SELECT ifnull(max(arrival), 0) FROM inbox WHERE arrival > 0)
                OR offered < handed OR offered > max(last, handed))
            """)
        let rows = try connection.execute(
            """
            WITH newest(row) AS (SELECT ifnull(max(row), 0) FROM inbox)
            UPDATE push_count SET row = (SELECT row FROM newest)
            WHERE peer = 0 AND row NOT BETWEEN (SELECT row FROM newest) AND 1 << 53
            """)
        let counts = try connection.execute(
            """
            INSERT INTO push_count (peer, total, unread)
                SELECT desktop, count(*), count(*) FILTER (WHERE read = 0 AND hidden = 0)
                FROM inbox INDEXED BY inbox_newest WHERE desktop > 0 GROUP BY desktop
                ON CONFLICT (peer) DO UPDATE SET total = excluded.total, unread = excluded.unread
                    WHERE (total, unread) <> (excluded.total, excluded.unread)
            """)
        let empty = try connection.execute(
            """
            UPDATE push_count SET total = 0, unread = 0
            WHERE (total, unread) <> (0, 0) AND NOT EXISTS (SELECT 1 FROM inbox AS i WHERE i.desktop = push_count.peer)
            """)
        let programs = try InboxPrograms(connection).repair()
        return waiting + marks + rows + counts + empty + programs > 0
    }
}
