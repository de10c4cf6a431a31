package import Hosting
package import Store

/// The programs that share a role: the table `application`.
///
/// Made for one piece of work on the store, over its connection.
package struct Applications {
    package static let migrations = [
        Migration(
            "shared.1",
            sql: """
                CREATE TABLE shared_event (
                    row INTEGER PRIMARY KEY AUTOINCREMENT,
                    source TEXT NOT NULL,
                    name TEXT NOT NULL,
                    desktop TEXT,
                    data TEXT NOT NULL
                ) STRICT;
                CREATE INDEX shared_event_order ON shared_event (source, row);
                CREATE TABLE application (
                    id TEXT PRIMARY KEY,
                    seen INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE application_mark (
                    slot INTEGER PRIMARY KEY,
                    application TEXT NOT NULL REFERENCES application (id) ON DELETE CASCADE,
                    source TEXT NOT NULL,
                    handed INTEGER NOT NULL,
                    offered INTEGER NOT NULL,
                    UNIQUE (application, source)
                ) STRICT;
                """),
        // Events that were dropped before the program was given them, and of which it has not been told.
        Migration("shared.2", sql: "ALTER TABLE application_mark ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0;"),
    ]

    /// Programs that are known at a time.
    package static let limit: Int64 = 256
    /// How long a program is known that isn't running, in milliseconds.
    package static let memory: Int64 = 30 * 86_400_000

    private let connection: Connection
    private let feeds: FeedTables

    package init(_ connection: Connection, _ feeds: FeedTables) { (self.connection, self.feeds) = (connection, feeds) }

    /// The program is running. It gets the events of a source from its first ``FeedTable/join(_:_:)`` on.
    ///
    /// - Parameter handed: what this program says it got, beyond what is recorded here.
    ///
    /// Errors: `queueFull` beyond ``limit`` programs.
    package func register(
        _ application: String, handed: [HostEvent.Name: Int64] = [:], now: Int64
    ) throws(StoreError) {
        let id = Value.text(application)
        let isKnown = try connection.integer("SELECT count(*) FROM application WHERE id = ?", [id]) > 0
        if !isKnown, try connection.integer("SELECT count(*) FROM application") >= Self.limit {
            throw StoreError(.queueFull, "\(Self.limit) programs share this state directory; at most that many can")
        }
        try connection.execute(
            "INSERT INTO application (id, seen) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET seen = ?2",
            [id, .integer(now)])
        for (source, through) in handed { try feeds[source]?.finish(application, through: through, connection) }
    }

    /// Programs in `running` were seen now; those that were not for ``memory`` are forgotten.
    package func prune(running: [String], now: Int64) throws(StoreError) {
        for application in running {
            try connection.execute(
                "UPDATE application SET seen = ? WHERE id = ?", [.integer(now), .text(application)])
        }
        let gone = try connection.query(
            "SELECT id FROM application WHERE seen < ?", [.integer(now &- Self.memory)],
            { (row) throws(StoreError) in try row.text(0) })
        for application in gone { try forget(application) }
    }

    /// Forgets the copies of programs that are not among these.
    package func forgetCopies(except running: Set<String>) throws(StoreError) {
        let copies = try connection.query(
            "SELECT id FROM application WHERE id GLOB '*/*'", [], { (row) throws(StoreError) in try row.text(0) })
        for copy in copies where !running.contains(copy) { try forget(copy) }
    }

    /// The program is as one that never was; what was kept for it alone is deleted.
    package func forget(_ application: String) throws(StoreError) {
        for feed in feeds.values { try feed.forget(application, connection) }
        try connection.execute("DELETE FROM application WHERE id = ?", [.text(application)])
    }
}

/// The table of each source.
package typealias FeedTables = [HostEvent.Name: any FeedTable]
