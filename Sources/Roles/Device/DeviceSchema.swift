/// All tables of a new device's database. `NewestSchemaTests` writes it again after a change of the migrations, and says how.
enum DeviceSchema {
    static let newest = """
        CREATE TABLE seal_start (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            epoch INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE seal_window (
            peer TEXT PRIMARY KEY NOT NULL,
            window BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE seal_peer (
            peer TEXT PRIMARY KEY NOT NULL,
            minimum INTEGER NOT NULL,
            psk BLOB
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE revoked_key (
            id TEXT PRIMARY KEY NOT NULL,
            name TEXT NOT NULL,
            at INTEGER NOT NULL,
            -- The key that its owner has moved to. NULL = it was revoked.
            successor TEXT
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE own_move (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            phase INTEGER NOT NULL,
            old TEXT NOT NULL,
            new TEXT NOT NULL,
            at INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE own_move_peer (
            peer TEXT PRIMARY KEY NOT NULL,
            statement TEXT NOT NULL,
            answer INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE peer_move (
            old TEXT NOT NULL,
            new TEXT NOT NULL,
            -- Our id for which it was stated.
            receiver TEXT NOT NULL,
            at INTEGER NOT NULL,
            state INTEGER NOT NULL,
            PRIMARY KEY (old, new)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE paired_desktop (
            address TEXT PRIMARY KEY NOT NULL,
            pc_peer_id TEXT NOT NULL,
            name TEXT NOT NULL,
            platform TEXT NOT NULL,
            lan_signaling_url TEXT,
            relay_url TEXT,
            ice_servers_json TEXT,
            ice_expiry INTEGER, -- epoch seconds
            paired_at INTEGER NOT NULL,
            last_seen_at INTEGER NOT NULL,
            secure INTEGER NOT NULL CHECK (secure IN (0, 1))
        , lan_worked_at INTEGER, relay_worked_at INTEGER, sas INTEGER, confirmed INTEGER NOT NULL DEFAULT 1 CHECK (confirmed IN (0, 1))) STRICT;
        CREATE INDEX paired_desktop_pc_peer_id ON paired_desktop (pc_peer_id);
        CREATE TABLE peer (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE
        ) STRICT;
        CREATE VIRTUAL TABLE inbox_text USING fts5(
            title, body, search, content='inbox', content_rowid='row',
            tokenize='unicode61 remove_diacritics 2', prefix='2 3');
        CREATE TABLE inbox_gone (
            row INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, search TEXT
        ) STRICT;
        CREATE TABLE desktop_settings (
            desktop TEXT PRIMARY KEY NOT NULL,
            settings TEXT NOT NULL,
            revision INTEGER,
            fetched_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE inbox_indexed (low INTEGER PRIMARY KEY, high INTEGER NOT NULL) STRICT;
        CREATE TABLE inbox (
            row INTEGER PRIMARY KEY,
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
            replaces TEXT, hint INTEGER NOT NULL DEFAULT 0, hint_number INTEGER,
            UNIQUE (desktop, id)
        ) STRICT;
        CREATE INDEX inbox_arrival ON inbox(arrival) WHERE arrival > 0;
        CREATE INDEX inbox_collapse ON inbox(desktop, collapse_key) WHERE collapse_key IS NOT NULL;
        CREATE INDEX inbox_withdrawn ON inbox(arrival) WHERE hidden = 2;
        CREATE TRIGGER inbox_reworded AFTER UPDATE OF title, body, search ON inbox
            WHEN ifnull((SELECT high FROM inbox_indexed WHERE low <= old.row ORDER BY low DESC LIMIT 1), 0) >= old.row
                AND (old.title, old.body, old.search) IS NOT (new.title, new.body, new.search) BEGIN
            INSERT OR IGNORE INTO inbox_gone VALUES (old.row, old.title, old.body, old.search);
        END;
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
        CREATE INDEX inbox_change_of ON inbox_change(desktop);
        CREATE TABLE inbox_touched (
            change INTEGER NOT NULL REFERENCES inbox_change(number) ON DELETE CASCADE,
            row INTEGER NOT NULL REFERENCES inbox(row) ON DELETE CASCADE,
            PRIMARY KEY (change, row)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX inbox_touched_row ON inbox_touched(row);
        CREATE TABLE inbox_program (
            -- Its place in the file of what callbacks are about to see; 0 is that of a program that does not share.
            slot INTEGER PRIMARY KEY CHECK (slot > 0),
            application TEXT NOT NULL UNIQUE,
            -- Every push through this arrival was handed over.
            handed INTEGER NOT NULL,
            -- No callback can have seen a push beyond this arrival. It may be ahead of the push that came last.
            offered INTEGER NOT NULL,
            -- Pushes that were dropped before the program got them, and that it doesn't know of yet.
            dropped INTEGER NOT NULL DEFAULT 0
        ) STRICT;
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
                WHERE ifnull((SELECT high FROM inbox_indexed WHERE low <= old.row ORDER BY low DESC LIMIT 1), 0) >= old.row;
        END;
        CREATE INDEX inbox_newest ON inbox(created_at, row, desktop, read, hidden);
        CREATE TABLE queued_command (
            row INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            desktop TEXT NOT NULL,
            method TEXT NOT NULL,
            params TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('pending', 'sending', 'failed')),
            tries INTEGER NOT NULL,
            error_code TEXT,
            error_message TEXT
        ) STRICT;
        CREATE TABLE known_revision (
            desktop TEXT PRIMARY KEY,
            revision INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE kept_event (
            row INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL,
            desktop TEXT,
            data TEXT NOT NULL,
            handed INTEGER NOT NULL DEFAULT 0,
            redelivered INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX kept_event_order ON kept_event (name, handed, row);
        CREATE TABLE push_service (
            service TEXT PRIMARY KEY NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE push_token_removal (
            desktop TEXT NOT NULL,
            service TEXT NOT NULL,
            PRIMARY KEY (desktop, service)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE alert (
            row INTEGER PRIMARY KEY AUTOINCREMENT,
            -- Empty for the program's own.
            desktop TEXT NOT NULL,
            id TEXT NOT NULL,
            content TEXT NOT NULL,
            thread TEXT,
            source TEXT,
            -- 0 = due, 1 = held until quiet hours end, 2 = held with others that come late, 3 = delivered.
            state INTEGER NOT NULL,
            silenced INTEGER NOT NULL,
            reminder INTEGER NOT NULL,
            late INTEGER NOT NULL,
            due_at INTEGER NOT NULL,
            shown_at INTEGER,
            handle TEXT, urgent INTEGER NOT NULL DEFAULT 0,
            UNIQUE (desktop, id)
        ) STRICT;
        CREATE INDEX alert_state ON alert(state, row);
        CREATE INDEX alert_handle ON alert(handle) WHERE handle IS NOT NULL;
        CREATE TABLE alert_beyond (
            state INTEGER PRIMARY KEY,
            count INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE alert_preference (
            name TEXT PRIMARY KEY NOT NULL,
            value TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX alert_due ON alert(urgent DESC, row) WHERE state = 0;
        CREATE TABLE alert_image (
            desktop TEXT NOT NULL,
            id TEXT NOT NULL,
            path TEXT NOT NULL,
            PRIMARY KEY (desktop, id)
        ) STRICT;
        CREATE INDEX alert_image_path ON alert_image(path);
        CREATE TABLE reminder (
            row INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            content TEXT NOT NULL,
            trigger TEXT NOT NULL,
            added_at INTEGER NOT NULL,
            next_at INTEGER,
            -- What the clock on the wall shows then, in seconds since its own 1970.
            next_time INTEGER,
            last_at INTEGER,
            side TEXT NOT NULL
        ) STRICT;
        CREATE TABLE prekey (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id BLOB NOT NULL UNIQUE,
            desktop TEXT NOT NULL,
            -- Zeros once it was used.
            secret BLOB NOT NULL,
            last_resort INTEGER NOT NULL,
            made_at INTEGER NOT NULL,
            -- When a last resort was replaced.
            retired_at INTEGER
        ) STRICT;
        CREATE INDEX prekey_of ON prekey(desktop, number);
        CREATE TABLE prekey_use (
            prekey INTEGER NOT NULL REFERENCES prekey(number) ON DELETE CASCADE,
            push TEXT NOT NULL,
            PRIMARY KEY (prekey, push)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE pairing_copy (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            -- Counts the transactions that have changed a pairing.
            generation INTEGER NOT NULL,
            -- When pairings were lost; NULL = never.
            lost_at INTEGER
        ) STRICT;
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
            offered INTEGER NOT NULL, dropped INTEGER NOT NULL DEFAULT 0,
            UNIQUE (application, source)
        ) STRICT;
        INSERT INTO push_count VALUES (0, 0, 0, 0, 0, 0, 0, 0, NULL);
        """
}
