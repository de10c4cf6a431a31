import Listing
import Notifications
import Store

/// The inbox's migrations, from its first schema to the current one (``InboxTables``).
enum InboxSchema {
    /// The inbox's part of the device's file, with the numbers of peers.
    static let migrations =
        PeerNumbers.migrations + [
            first, changes, text, settings, delivery, InboxTables.migration, hints, InboxPrograms.migration,
            ReceivedPushes.migration, PushCountTable.migration,
        ]

    private static let first =
        Migration(
            "inbox.1",
            sql: """
                CREATE TABLE inbox (
                    row INTEGER PRIMARY KEY AUTOINCREMENT,
                    desktop TEXT NOT NULL,
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
                    handed INTEGER NOT NULL,
                    redelivered INTEGER NOT NULL DEFAULT 0,
                    pushed INTEGER NOT NULL,
                    UNIQUE (desktop, id)
                ) STRICT;
                CREATE INDEX inbox_newest ON inbox(desktop, created_at);
                CREATE INDEX inbox_unread ON inbox(desktop) WHERE read = 0;
                CREATE INDEX inbox_unhanded ON inbox(handed) WHERE handed < 2;
                CREATE INDEX inbox_pushed ON inbox(pushed) WHERE pushed = 1;
                """)

    /// What is shown beside what the desktop reported, and the changes that make the difference.
    private static let changes = Migration(
        "inbox.changes",
        sql: """
            -- `read` is what is shown, `said_read` what the desktop has said.
            ALTER TABLE inbox ADD COLUMN said_read INTEGER NOT NULL DEFAULT 0;
            UPDATE inbox SET said_read = read;
            -- 0 = shown, 1 = hidden by a change, 2 = gone, and kept until the host has taken it.
            ALTER TABLE inbox ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE inbox ADD COLUMN uncertain INTEGER NOT NULL DEFAULT 0;
            -- The refresh that has found it last.
            ALTER TABLE inbox ADD COLUMN seen INTEGER NOT NULL DEFAULT 0;
            -- The order in which pushes came; a row of the history may become a push later.
            ALTER TABLE inbox ADD COLUMN arrival INTEGER NOT NULL DEFAULT 0;
            UPDATE inbox SET arrival = row;
            DROP INDEX inbox_newest;
            DROP INDEX inbox_unread;
            DROP INDEX inbox_unhanded;
            CREATE INDEX inbox_newest ON inbox(created_at);
            CREATE INDEX inbox_of ON inbox(desktop, created_at);
            CREATE INDEX inbox_unread ON inbox(desktop, created_at) WHERE read = 0 AND hidden = 0;
            CREATE INDEX inbox_unhanded ON inbox(arrival) WHERE handed < 2;

            CREATE TABLE inbox_change (
                number INTEGER PRIMARY KEY AUTOINCREMENT,
                desktop TEXT NOT NULL,
                kind INTEGER NOT NULL,
                stage INTEGER NOT NULL,
                -- Whether its command will be sent again.
                kept INTEGER NOT NULL DEFAULT 0,
                request TEXT,
                made_at INTEGER NOT NULL
            ) STRICT;
            CREATE INDEX inbox_change_of ON inbox_change(desktop);
            CREATE TABLE inbox_touched (
                change INTEGER NOT NULL REFERENCES inbox_change(number) ON DELETE CASCADE,
                row INTEGER NOT NULL REFERENCES inbox(row) ON DELETE CASCADE,
                PRIMARY KEY (change, row)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX inbox_touched_row ON inbox_touched(row);

            CREATE TABLE inbox_desktop (
                desktop TEXT PRIMARY KEY NOT NULL,
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
            ) STRICT, WITHOUT ROWID;
            """)

    /// Full-text search, as in the desktop's history.
    private static let text = Migration("inbox.text") { (connection) throws(StoreError) in
        try connection.executeScript(
            """
            ALTER TABLE inbox ADD COLUMN search TEXT;
            CREATE VIRTUAL TABLE inbox_text USING fts5(
                title, body, search, content='inbox', content_rowid='row',
                tokenize='unicode61 remove_diacritics 2', prefix='2 3');
            CREATE TABLE inbox_indexed (one INTEGER PRIMARY KEY CHECK (one = 1), through INTEGER NOT NULL) STRICT;
            INSERT INTO inbox_indexed VALUES (1, 0);
            -- Indexed rows whose text is another one now, or which are no more, as they are in the index.
            CREATE TABLE inbox_gone (
                row INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, search TEXT
            ) STRICT;
            CREATE TRIGGER inbox_left AFTER DELETE ON inbox
                WHEN old.row <= (SELECT through FROM inbox_indexed) BEGIN
                INSERT OR IGNORE INTO inbox_gone VALUES (old.row, old.title, old.body, old.search);
            END;
            CREATE TRIGGER inbox_reworded AFTER UPDATE OF title, body, search ON inbox
                WHEN old.row <= (SELECT through FROM inbox_indexed)
                    AND (old.title, old.body, old.search) IS NOT (new.title, new.body, new.search) BEGIN
                INSERT OR IGNORE INTO inbox_gone VALUES (old.row, old.title, old.body, old.search);
            END;
            """)
        try fillSearch(connection)
    }

    /// Each desktop's settings, as it reported them.
    private static let settings = Migration(
        "inbox.settings",
        sql: """
            CREATE TABLE desktop_settings (
                desktop TEXT PRIMARY KEY NOT NULL,
                settings TEXT NOT NULL,
                revision INTEGER,
                fetched_at INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            """)

    /// Which row a push has replaced.
    private static let delivery = Migration(
        "delivery.inbox.1",
        sql: """
            ALTER TABLE inbox ADD COLUMN replaces TEXT;
            CREATE INDEX inbox_collapse ON inbox(desktop, collapse_key) WHERE collapse_key IS NOT NULL;
            CREATE INDEX inbox_age ON inbox(created_at);
            """)

    /// Which pushes came sealed through a push service, and in no session yet.
    private static let hints = Migration(
        "inbox.hints",
        sql: """
            -- 0 = no hint, 1 = a hint, 2 = a hint that the history has corrected.
            ALTER TABLE inbox ADD COLUMN hint INTEGER NOT NULL DEFAULT 0;
            -- The number that the desktop gave it.
            ALTER TABLE inbox ADD COLUMN hint_number INTEGER;
            """)

    /// Adds the search text to existing rows.
    private static func fillSearch(_ connection: Connection) throws(StoreError) {
        let rows = try connection.query("SELECT row, title, body FROM inbox") {
            (row) throws(StoreError) -> (Int64, String)? in
            let number = try row.integer(0)
            return SearchText.of(title: try row.text(1), body: try row.text(2)).map { (number, $0) }
        }
        for case let (row, text)? in rows {
            try connection.execute("UPDATE inbox SET search = ? WHERE row = ?", [.text(text), .integer(row)])
        }
    }
}
