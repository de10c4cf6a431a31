import Listing
import Store

/// What every push changes, in one page: the table `push_count`, and with it the inbox's current triggers and its index of
/// pages.
enum PushCountTable {
    /// One table for the marks, the counts, the numbers of each desktop, and the inbox's row numbers.
    ///
    /// - Without AUTOINCREMENT the inbox is stored as before, so its text is changed alone.
    /// - One index serves all pages, by the columns that are its end. Ids are random, so each push writes a page of
    ///   (desktop, id); what is asked of one desktop without an order is read along that.
    static let migration = Migration(
        "inbox.3",
        sql: """
            CREATE TABLE push_count (
                -- 0 = this device; else the number of a desktop.
                peer INTEGER PRIMARY KEY,
                -- The arrival of the push that came last. Of a desktop: the number of its last push that is stored.
                last INTEGER NOT NULL DEFAULT 0,
                -- The last row of the inbox.
                row INTEGER NOT NULL DEFAULT 0,
                -- Every push through this arrival was handed over.
                handed INTEGER NOT NULL DEFAULT 0,
                -- No callback can have seen a push beyond this arrival.
                offered INTEGER NOT NULL DEFAULT 0,
                -- Rows whose arrival is beyond `handed`.
                waiting INTEGER NOT NULL DEFAULT 0,
                -- Of a desktop: its rows, those that are shown as unread, and `created_at` of its push that came last.
                total INTEGER NOT NULL DEFAULT 0,
                unread INTEGER NOT NULL DEFAULT 0,
                last_push_at INTEGER
            ) STRICT;
            INSERT INTO push_count (peer, last, row, handed, offered, waiting) SELECT 0, last,
                max(ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'inbox'), 0),
                    ifnull((SELECT max(row) FROM inbox), 0)),
                handed, offered, waiting FROM inbox_host;
            INSERT INTO peer(id) SELECT desktop FROM received_push WHERE desktop NOT IN (SELECT id FROM peer);
            INSERT INTO push_count (peer, last, total, unread, last_push_at)
                SELECT number, ifnull(r.last, 0), ifnull(c.total, 0), ifnull(c.unread, 0), d.last_push_at FROM peer
                LEFT JOIN received_push AS r ON r.desktop = peer.id
                LEFT JOIN inbox_count AS c ON c.desktop = number
                LEFT JOIN inbox_desktop AS d ON d.desktop = number
                WHERE r.desktop IS NOT NULL OR c.desktop IS NOT NULL OR d.last_push_at IS NOT NULL;
            DROP TRIGGER inbox_came;
            DROP TRIGGER inbox_shown;
            DROP TRIGGER inbox_left;
            DROP TABLE inbox_host;
            DROP TABLE inbox_count;
            DROP TABLE received_push;
            ALTER TABLE inbox_desktop RENAME TO inbox_desktop_old;
            CREATE TABLE inbox_desktop (
                desktop INTEGER PRIMARY KEY,
                -- Unread rows of the desktop's that are not here; negative where more are here than it says.
                beyond INTEGER NOT NULL DEFAULT 0,
                -- Whether a refresh has reached the end of its history.
                complete INTEGER NOT NULL DEFAULT 0,
                refreshed_at INTEGER,
                refresh INTEGER NOT NULL DEFAULT 0,
                -- Pushes since then may be missing: asked for, and not yet answered.
                gap_since INTEGER
            ) STRICT;
            INSERT INTO inbox_desktop SELECT desktop, beyond, complete, refreshed_at, refresh, gap_since
                FROM inbox_desktop_old;
            DROP TABLE inbox_desktop_old;
            \(triggers)

            DROP INDEX inbox_newest;
            DROP INDEX inbox_of;
            DROP INDEX inbox_unread;
            CREATE INDEX inbox_newest ON inbox(created_at, row, desktop, read, hidden);

            DELETE FROM sqlite_sequence WHERE name = 'inbox';
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, 'PRIMARY KEY AUTOINCREMENT', 'PRIMARY KEY')
                WHERE type = 'table' AND name = 'inbox';
            PRAGMA writable_schema = RESET;
            """)

    /// Triggers keep the counts, but for a push that comes: those are counted once per batch (``PushBatch``).
    private static let triggers = """
        CREATE TRIGGER inbox_came AFTER INSERT ON inbox WHEN new.arrival = 0 BEGIN
            INSERT INTO push_count (peer, total, unread) VALUES (new.desktop, 1, new.read = 0 AND new.hidden = 0)
                ON CONFLICT (peer) DO UPDATE SET total = total + 1, unread = unread + excluded.unread;
            UPDATE push_count SET row = max(row, new.row) WHERE peer = 0;
        END;
        CREATE TRIGGER inbox_shown AFTER UPDATE OF read, hidden ON inbox
            WHEN (old.read = 0 AND old.hidden = 0) <> (new.read = 0 AND new.hidden = 0) BEGIN
            UPDATE push_count SET unread = unread + iif(new.read = 0 AND new.hidden = 0, 1, -1)
                WHERE peer = new.desktop;
        END;
        CREATE TRIGGER inbox_left AFTER DELETE ON inbox BEGIN
            UPDATE push_count SET total = total - 1, unread = unread - (old.read = 0 AND old.hidden = 0)
                WHERE peer = old.desktop;
            UPDATE push_count SET waiting = waiting - 1 WHERE peer = 0 AND old.arrival > handed;
            INSERT OR IGNORE INTO inbox_gone SELECT old.row, old.title, old.body, old.search
                WHERE \(InboxTables.textIndex.contains("old.row"));
        END;
        """
}
