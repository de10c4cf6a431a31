import Listing
import Store

/// The inbox's current tables, and the migration to them.
enum InboxTables {
    /// Peers become integers, marks per push become watermarks, and counts are kept instead of counted.
    ///
    /// The table is made anew under its old row numbers, so that what refers to them, the text index included, stays true.
    /// Pushes get new arrivals: first those that were handed over, in the order of their rows, then those that wait, in the
    /// order in which they came. What was being handed over, or had been before, is within `offered`.
    static let migration = Migration("inbox.2") { (connection) throws(StoreError) in
        for table in ["inbox", "inbox_change", "inbox_desktop"] {
            try PeerNumbers.adopt("desktop", of: table, connection)
        }
        try connection.executeScript("DROP TRIGGER inbox_left; DROP TRIGGER inbox_reworded")
        try textIndex.adoptRanges(connection)
        try connection.executeScript(
            """
            CREATE TEMP TABLE kept_touched AS SELECT change, row FROM inbox_touched;
            DROP TABLE inbox_touched;
            CREATE TEMP TABLE kept_sequence AS SELECT name, seq FROM sqlite_sequence
                WHERE name IN ('inbox', 'inbox_change');
            CREATE TEMP TABLE kept_arrival AS
                SELECT row, handed < 2 AS waits, handed = 1 OR redelivered = 1 AS offered, row_number() OVER (
                    ORDER BY handed < 2, CASE WHEN handed < 2 THEN arrival END, row) AS arrival
                FROM inbox WHERE pushed = 1 OR handed < 2;
            CREATE UNIQUE INDEX temp.kept_arrival_row ON kept_arrival(row);

            ALTER TABLE inbox RENAME TO inbox_old;
            \(table)
            INSERT INTO inbox(\(copied), desktop, arrival)
                SELECT \(copied), (SELECT number FROM peer WHERE peer.id = o.desktop),
                    ifnull((SELECT a.arrival FROM temp.kept_arrival AS a WHERE a.row = o.row), 0)
                FROM inbox_old AS o ORDER BY row;
            DROP TABLE inbox_old;
            \(indexes)

            \(host)
            INSERT INTO inbox_host SELECT 1, count(*), count(*) FILTER (WHERE NOT waits),
                max(count(*) FILTER (WHERE NOT waits), ifnull(max(arrival) FILTER (WHERE waits AND offered), 0)),
                count(*) FILTER (WHERE waits) FROM temp.kept_arrival;
            INSERT INTO inbox_count
                SELECT desktop, count(*), count(*) FILTER (WHERE read = 0 AND hidden = 0) FROM inbox GROUP BY desktop;
            \(triggers)

            \(changeTables)
            UPDATE sqlite_sequence SET seq = (SELECT k.seq FROM temp.kept_sequence AS k WHERE k.name = sqlite_sequence.name)
                WHERE name IN (SELECT name FROM temp.kept_sequence);
            INSERT INTO sqlite_sequence(name, seq) SELECT name, seq FROM temp.kept_sequence
                WHERE name NOT IN (SELECT name FROM sqlite_sequence);
            DROP TABLE temp.kept_touched;
            DROP TABLE temp.kept_sequence;
            DROP TABLE temp.kept_arrival;
            """)
    }

    /// The words of titles and bodies.
    static let textIndex = TextIndex("inbox")

    private static let table = """
        CREATE TABLE inbox (
            row INTEGER PRIMARY KEY AUTOINCREMENT,
            -- The number of its peer.
            desktop INTEGER NOT NULL,
            id TEXT NOT NULL,
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
            -- `read` is what is shown, `said_read` what the desktop has said.
            said_read INTEGER NOT NULL,
            -- 0 = shown, 1 = hidden by a change, 2 = gone, and kept until the host has taken it.
            hidden INTEGER NOT NULL DEFAULT 0,
            uncertain INTEGER NOT NULL DEFAULT 0,
            -- The refresh that has found it last.
            seen INTEGER NOT NULL DEFAULT 0,
            -- Pushes count up in the order in which they came, never reused; 0 = known from the history alone.
            arrival INTEGER NOT NULL DEFAULT 0,
            search TEXT,
            replaces TEXT,
            UNIQUE (desktop, id)
        ) STRICT;
        """

    /// Columns that a row keeps as they are.
    private static let copied = """
        row, id, title, body, priority, source, created_at, received_at, silenced, late, read, read_at, data, richer, \
        collapse_key, expires_at, said_read, hidden, uncertain, seen, search, replaces
        """

    /// What each index serves. Ids are random, so each push writes a page of (desktop, id); all others grow at one end, so a
    /// batch of pushes shares their pages.
    private static let indexes = """
        -- Pages over all desktops; what is too old or too much.
        CREATE INDEX inbox_newest ON inbox(created_at);
        -- Pages of one desktop; what it has cleared before a moment.
        CREATE INDEX inbox_of ON inbox(desktop, created_at);
        -- Unread pages of one desktop; the check of the counts on open.
        CREATE INDEX inbox_unread ON inbox(desktop, created_at) WHERE read = 0 AND hidden = 0;
        -- What waits for the host, in its order; the push that came last.
        CREATE INDEX inbox_arrival ON inbox(arrival) WHERE arrival > 0;
        -- What a push with the same key replaces. Few rows have one.
        CREATE INDEX inbox_collapse ON inbox(desktop, collapse_key) WHERE collapse_key IS NOT NULL;
        -- What is kept for the host alone: next to none.
        CREATE INDEX inbox_withdrawn ON inbox(arrival) WHERE hidden = 2;
        """

    private static let host = """
        CREATE TABLE inbox_host (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            -- The arrival of the push that came last.
            last INTEGER NOT NULL,
            -- Every push through this arrival was handed over.
            handed INTEGER NOT NULL,
            -- No callback can have seen a push beyond this arrival.
            offered INTEGER NOT NULL,
            -- Rows whose arrival is beyond `handed`.
            waiting INTEGER NOT NULL
        ) STRICT;
        -- Rows of each peer, and those of them that are shown as unread.
        CREATE TABLE inbox_count (
            desktop INTEGER PRIMARY KEY,
            total INTEGER NOT NULL,
            unread INTEGER NOT NULL
        ) STRICT;
        """

    /// Triggers keep the counts, but for a push that comes: those are counted once per batch (``PushBatch``).
    private static let triggers = """
        CREATE TRIGGER inbox_came AFTER INSERT ON inbox WHEN new.arrival = 0 BEGIN
            INSERT INTO inbox_count VALUES (new.desktop, 1, new.read = 0 AND new.hidden = 0)
                ON CONFLICT (desktop) DO UPDATE SET total = total + 1, unread = unread + excluded.unread;
        END;
        CREATE TRIGGER inbox_shown AFTER UPDATE OF read, hidden ON inbox
            WHEN (old.read = 0 AND old.hidden = 0) <> (new.read = 0 AND new.hidden = 0) BEGIN
            UPDATE inbox_count SET unread = unread + iif(new.read = 0 AND new.hidden = 0, 1, -1)
                WHERE desktop = new.desktop;
        END;
        CREATE TRIGGER inbox_left AFTER DELETE ON inbox BEGIN
            UPDATE inbox_count SET total = total - 1, unread = unread - (old.read = 0 AND old.hidden = 0)
                WHERE desktop = old.desktop;
            UPDATE inbox_host SET waiting = waiting - 1 WHERE old.arrival > handed;
            INSERT OR IGNORE INTO inbox_gone SELECT old.row, old.title, old.body, old.search
                WHERE \(textIndex.contains("old.row"));
        END;
        CREATE TRIGGER inbox_reworded AFTER UPDATE OF title, body, search ON inbox
            WHEN \(textIndex.contains("old.row"))
                AND (old.title, old.body, old.search) IS NOT (new.title, new.body, new.search) BEGIN
            INSERT OR IGNORE INTO inbox_gone VALUES (old.row, old.title, old.body, old.search);
        END;
        """

    /// The tables beside it, over peers' numbers. Those with one row for each desktop, such as its settings, keep its id.
    private static let changeTables = """
        ALTER TABLE inbox_change RENAME TO inbox_change_old;
        DROP INDEX inbox_change_of;
        CREATE TABLE inbox_change (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            desktop INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            stage INTEGER NOT NULL,
            -- Whether its command will be sent again.
            kept INTEGER NOT NULL DEFAULT 0,
            request TEXT,
            made_at INTEGER NOT NULL
        ) STRICT;
        INSERT INTO inbox_change SELECT o.number, p.number, kind, stage, kept, request, made_at
            FROM inbox_change_old AS o JOIN peer AS p ON p.id = o.desktop ORDER BY 1;
        DROP TABLE inbox_change_old;
        CREATE INDEX inbox_change_of ON inbox_change(desktop);
        CREATE TABLE inbox_touched (
            change INTEGER NOT NULL REFERENCES inbox_change(number) ON DELETE CASCADE,
            row INTEGER NOT NULL REFERENCES inbox(row) ON DELETE CASCADE,
            PRIMARY KEY (change, row)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX inbox_touched_row ON inbox_touched(row);
        INSERT INTO inbox_touched SELECT change, row FROM temp.kept_touched;

        ALTER TABLE inbox_desktop RENAME TO inbox_desktop_old;
        CREATE TABLE inbox_desktop (
            desktop INTEGER PRIMARY KEY,
            -- Unread rows of the desktop's that are not here; negative where more are here than it says.
            beyond INTEGER NOT NULL DEFAULT 0,
            -- Whether a refresh has reached the end of its history.
            complete INTEGER NOT NULL DEFAULT 0,
            refreshed_at INTEGER,
            refresh INTEGER NOT NULL DEFAULT 0,
            -- `created_at` of the push that came last.
            last_push_at INTEGER,
            -- Pushes since then may be missing: asked for, and not yet answered.
            gap_since INTEGER
        ) STRICT;
        INSERT INTO inbox_desktop
            SELECT p.number, beyond, complete, refreshed_at, refresh, last_push_at, gap_since
            FROM inbox_desktop_old AS o JOIN peer AS p ON p.id = o.desktop;
        DROP TABLE inbox_desktop_old;
        """
}
