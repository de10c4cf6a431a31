import Delivery
import Listing
import Notifications
package import Store

extension History {
    /// The skill's part of the desktop's file: the history, the settings, the permissions.
    ///
    /// The counts are kept beside the rows (``HistoryCounts``), so that `total` and `unreadCount` are true without counting
    /// a million rows.
    package static let migrations =
        [first, second, SettingsTable.migration, Permissions.migration] + Outbox.migrations
        + [third, GroupTable.migration, ScheduleTable.migration, fourth]

    private static let first =
        Migration(
            "history.1",
            sql: """
                CREATE TABLE history (
                    row INTEGER PRIMARY KEY AUTOINCREMENT,
                    id TEXT NOT NULL UNIQUE,
                    title TEXT NOT NULL,
                    body TEXT NOT NULL,
                    priority INTEGER NOT NULL,
                    source TEXT NOT NULL,
                    created_at INTEGER NOT NULL,
                    received_at INTEGER NOT NULL,
                    silenced INTEGER NOT NULL,
                    late INTEGER NOT NULL,
                    read INTEGER NOT NULL,
                    read_at INTEGER,
                    data TEXT,
                    richer TEXT,
                    collapse_key TEXT,
                    expires_at INTEGER,
                    icon TEXT,
                    target TEXT
                ) STRICT;
                CREATE INDEX history_newest ON history(created_at);
                CREATE INDEX history_unread ON history(created_at) WHERE read = 0;

                CREATE TABLE history_count (
                    one INTEGER PRIMARY KEY CHECK (one = 1),
                    total INTEGER NOT NULL,
                    unread INTEGER NOT NULL
                ) STRICT;
                INSERT INTO history_count VALUES (1, 0, 0);
                CREATE TRIGGER history_inserted AFTER INSERT ON history BEGIN
                    UPDATE history_count SET total = total + 1, unread = unread + (new.read = 0);
                END;
                CREATE TRIGGER history_deleted AFTER DELETE ON history BEGIN
                    UPDATE history_count SET total = total - 1, unread = unread - (old.read = 0);
                END;
                CREATE TRIGGER history_marked AFTER UPDATE OF read ON history WHEN old.read <> new.read BEGIN
                    UPDATE history_count SET unread = unread + (new.read = 0) - (old.read = 0);
                END;
                """)

    /// Full text, and what makes filtered pages and their totals fast.
    ///
    /// - `history_facets` holds the rows of one source, priority and state in order of time: a filtered page merges at most
    ///   sixteen such runs. `history_tally` counts them for each day.
    /// - `history_text` is an index alone; the text stays where it is. `search` is filled for texts without spaces between
    ///   words (``SearchText``). ``History`` keeps it, not triggers: while SQLite trusts no schema, these may not. Rows
    ///   after `history_indexed` are not in it yet, those of `history_gone` still are.
    private static let second = Migration("history.2") { (connection) throws(StoreError) in
        try connection.executeScript(
            """
            CREATE INDEX history_facets ON history(source, priority, read, created_at);
            -- `read` is a column of it, else SQLite would look into each row to see what the condition says already.
            DROP INDEX history_unread;
            CREATE INDEX history_unread ON history(read, created_at) WHERE read = 0;

            CREATE TABLE history_tally (
                day INTEGER NOT NULL,
                source TEXT NOT NULL,
                priority INTEGER NOT NULL,
                read INTEGER NOT NULL,
                n INTEGER NOT NULL,
                PRIMARY KEY (day, source, priority, read)
            ) STRICT, WITHOUT ROWID;
            INSERT INTO history_tally
                SELECT created_at / 86400000, source, priority, read, count(*) FROM history GROUP BY 1, 2, 3, 4;

            ALTER TABLE history ADD COLUMN search TEXT;
            CREATE VIRTUAL TABLE history_text USING fts5(
                title, body, search, content='history', content_rowid='row',
                tokenize='unicode61 remove_diacritics 2', prefix='2 3');
            CREATE TABLE history_indexed (one INTEGER PRIMARY KEY CHECK (one = 1), through INTEGER NOT NULL) STRICT;
            INSERT INTO history_indexed VALUES (1, 0);
            CREATE TABLE history_gone (
                row INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, search TEXT
            ) STRICT;
            """)
        try fillSearch(connection)
        try connection.executeScript(
            """
            DROP TRIGGER history_inserted;
            DROP TRIGGER history_deleted;
            DROP TRIGGER history_marked;
            CREATE TRIGGER history_came AFTER INSERT ON history BEGIN
                UPDATE history_count SET total = total + 1, unread = unread + (new.read = 0);
                INSERT INTO history_tally VALUES (new.created_at / 86400000, new.source, new.priority, new.read, 1)
                    ON CONFLICT DO UPDATE SET n = n + 1;
            END;
            \(movedTrigger)
            \(leftTrigger)
            """)
    }

    /// As `history.2` made them; they are gone since `history.3`.
    private static let movedTrigger = """
        CREATE TRIGGER history_moved AFTER UPDATE OF created_at, source, priority, read ON history BEGIN
            UPDATE history_count SET unread = unread + (new.read = 0) - (old.read = 0);
            UPDATE history_tally SET n = n - 1 WHERE day = old.created_at / 86400000 AND source = old.source
                AND priority = old.priority AND read = old.read;
            INSERT INTO history_tally VALUES (new.created_at / 86400000, new.source, new.priority, new.read, 1)
                ON CONFLICT DO UPDATE SET n = n + 1;
        END;
        """

    private static let leftTrigger = """
        CREATE TRIGGER history_left AFTER DELETE ON history BEGIN
            UPDATE history_count SET total = total - 1, unread = unread - (old.read = 0);
            UPDATE history_tally SET n = n - 1 WHERE day = old.created_at / 86400000 AND source = old.source
                AND priority = old.priority AND read = old.read;
        END;
        """

    /// For a desktop that stores thousands of pushes a second.
    ///
    /// ``HistoryCounts`` keeps the counts, once for each piece of work instead of once for each row; text is indexed in
    /// steps. What a row has beside itself:
    /// - its `id` (the table's UNIQUE): marking, deleting, and pages that begin after a notification. Ids that this desktop
    ///   makes begin with the time, so that neighbours in time share a page of it;
    /// - `history_newest`: pages by time, and what retention lets go;
    /// - `history_facets`: every other order and filter, `unreadOnly` too, which had an index of its own;
    /// - `history_collapse`: what a push with a `collapseKey` replaces; without one it costs nothing.
    private static let third = Migration("history.3") { (connection) throws(StoreError) in
        try connection.executeScript(
            """
            DROP TRIGGER history_came;
            DROP TRIGGER history_moved;
            DROP TRIGGER history_left;
            DROP INDEX history_unread;
            """)
        try text.adoptRanges(connection)
    }

    /// For a push alone, of which each page of the file costs as much as its row.
    ///
    /// - `push_count` is one page for what each push changes: the history's counts and the devices' positions.
    /// - `history.row` is counted there instead of in `sqlite_sequence`. Without AUTOINCREMENT the table is stored as
    ///   before, so its text is changed alone: a copy of a million rows would take minutes.
    /// - `history_facets` serves pages by time as well: they merge its sixteen runs.
    /// - `sent` says under which numbers a push waits in the outboxes. Only copies need an index of their entries.
    private static let fourth = Migration(
        "history.4",
        sql: """
            CREATE TABLE push_count (
                -- 0 = the history; else the number of a device.
                peer INTEGER PRIMARY KEY,
                -- The last row of the history, or the last push to the device.
                last INTEGER NOT NULL,
                -- The device has everything through this one.
                acknowledged INTEGER NOT NULL DEFAULT 0,
                -- Of the history: rows, unread rows, and through which row `history_tally` counts.
                total INTEGER NOT NULL DEFAULT 0,
                unread INTEGER NOT NULL DEFAULT 0,
                tallied INTEGER NOT NULL DEFAULT 0
            ) STRICT;
            INSERT INTO push_count (peer, last, total, unread) SELECT 0,
                max(ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'history'), 0),
                    ifnull((SELECT max(row) FROM history), 0)),
                ifnull((SELECT total FROM history_count), 0), ifnull((SELECT unread FROM history_count), 0);
            UPDATE push_count SET tallied = last;
            INSERT INTO push_count (peer, last, acknowledged) SELECT device, last, acknowledged FROM outbox_device;
            DROP TABLE outbox_device;
            DROP TABLE history_count;

            ALTER TABLE history ADD COLUMN sent TEXT;
            \(Outbox.noteSent)
            DROP INDEX history_newest;
            DROP TRIGGER outbox_left;
            DROP INDEX outbox_of_push;
            CREATE INDEX outbox_copied ON outbox(push) WHERE push < 0;
            CREATE TRIGGER outbox_left AFTER DELETE ON outbox WHEN old.push < 0 BEGIN
                DELETE FROM outbox_push WHERE row = -old.push
                    AND NOT EXISTS (SELECT 1 FROM outbox WHERE push = old.push AND push < 0);
            END;

            DELETE FROM sqlite_sequence WHERE name = 'history';
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, 'PRIMARY KEY AUTOINCREMENT', 'PRIMARY KEY')
                WHERE type = 'table' AND name = 'history';
            PRAGMA writable_schema = RESET;
            """)

    /// Rows of before need their search text once.
    private static func fillSearch(_ connection: Connection) throws(StoreError) {
        let rows = try connection.query("SELECT row, title, body FROM history") {
            (row) throws(StoreError) -> (Int64, String)? in
            let number = try row.integer(0)
            return SearchText.of(title: try row.text(1), body: try row.text(2)).map { (number, $0) }
        }
        for case let (row, text)? in rows {
            try connection.execute("UPDATE history SET search = ? WHERE row = ?", [.text(text), .integer(row)])
        }
    }
}
