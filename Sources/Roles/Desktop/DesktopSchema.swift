/// All tables of a new desktop's database. `NewestSchemaTests` writes it again after a change of the migrations, and says how.
enum DesktopSchema {
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
        CREATE TABLE paired_device (
            did TEXT PRIMARY KEY NOT NULL,
            device_id TEXT NOT NULL,
            name TEXT NOT NULL,
            platform TEXT NOT NULL,
            paired_at INTEGER NOT NULL,
            last_seen_at INTEGER NOT NULL,
            secure INTEGER NOT NULL CHECK (secure IN (0, 1)),
            text_payload INTEGER NOT NULL CHECK (text_payload IN (0, 1))
        , sas INTEGER) STRICT;
        CREATE INDEX paired_device_device_id ON paired_device (device_id);
        CREATE TABLE history (
            row INTEGER PRIMARY KEY,
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
        , search TEXT, sent TEXT) STRICT;
        CREATE INDEX history_facets ON history(source, priority, read, created_at);
        CREATE TABLE history_tally (
            day INTEGER NOT NULL,
            source TEXT NOT NULL,
            priority INTEGER NOT NULL,
            read INTEGER NOT NULL,
            n INTEGER NOT NULL,
            PRIMARY KEY (day, source, priority, read)
        ) STRICT, WITHOUT ROWID;
        CREATE VIRTUAL TABLE history_text USING fts5(
            title, body, search, content='history', content_rowid='row',
            tokenize='unicode61 remove_diacritics 2', prefix='2 3');
        CREATE TABLE history_gone (
            row INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, search TEXT
        ) STRICT;
        CREATE TABLE setting (
            name TEXT PRIMARY KEY,
            value TEXT NOT NULL,
            revision INTEGER NOT NULL,
            author TEXT NOT NULL,
            base INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE skill_off (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
        CREATE TABLE allowance (
            device TEXT NOT NULL,
            skill TEXT NOT NULL,
            risk INTEGER NOT NULL,
            PRIMARY KEY (device, skill)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE outbox_push (
            row INTEGER PRIMARY KEY,
            id TEXT NOT NULL,
            payload TEXT NOT NULL
        ) STRICT;
        CREATE INDEX outbox_push_id ON outbox_push(id);
        CREATE INDEX history_collapse ON history(collapse_key) WHERE collapse_key IS NOT NULL;
        CREATE TABLE peer (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE
        ) STRICT;
        CREATE TABLE outbox (
            device INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            push INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            collapse_key TEXT,
            PRIMARY KEY (device, seq)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX outbox_collapse ON outbox(device, collapse_key) WHERE collapse_key IS NOT NULL;
        CREATE TABLE outbox_epoch (device INTEGER PRIMARY KEY REFERENCES peer(number)) STRICT;
        CREATE TABLE history_indexed (low INTEGER PRIMARY KEY, high INTEGER NOT NULL) STRICT;
        CREATE TABLE device_group (
            name TEXT NOT NULL,
            device TEXT NOT NULL,
            PRIMARY KEY (name, device)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE schedule (
            id TEXT PRIMARY KEY,
            at INTEGER NOT NULL,
            method TEXT NOT NULL,
            params TEXT NOT NULL,
            device TEXT,
            bellwire INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX schedule_at ON schedule(at);
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
        CREATE INDEX outbox_copied ON outbox(push) WHERE push < 0;
        CREATE TRIGGER outbox_left AFTER DELETE ON outbox WHEN old.push < 0 BEGIN
            DELETE FROM outbox_push WHERE row = -old.push
                AND NOT EXISTS (SELECT 1 FROM outbox WHERE push = old.push AND push < 0);
        END;
        CREATE TABLE unpair_notice (
            did TEXT PRIMARY KEY NOT NULL,
            since INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE command_answer (
            row INTEGER PRIMARY KEY AUTOINCREMENT,
            device TEXT NOT NULL,
            id TEXT NOT NULL,
            method TEXT NOT NULL,
            answered_at INTEGER NOT NULL,
            result TEXT NOT NULL,
            -- 1 = it is what is known so far.
            open INTEGER NOT NULL CHECK (open IN (0, 1)), number INTEGER NOT NULL DEFAULT 0,
            UNIQUE (device, id)
        ) STRICT;
        CREATE INDEX command_answer_number ON command_answer(device, number);
        CREATE INDEX command_answer_open ON command_answer(open) WHERE open = 1;
        CREATE TABLE device_token (
            device TEXT NOT NULL,
            service TEXT NOT NULL,
            token TEXT,
            device_id TEXT NOT NULL,
            received_at INTEGER NOT NULL,
            epoch INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            PRIMARY KEY (device, service)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX device_token_of ON device_token (service, token);
        CREATE TABLE device_prekey (
            device TEXT NOT NULL,
            -- The order of use.
            place INTEGER NOT NULL,
            key BLOB NOT NULL,
            last_resort INTEGER NOT NULL,
            PRIMARY KEY (device, place)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE device_prekey_statement (
            device TEXT PRIMARY KEY NOT NULL,
            epoch INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            received_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE device_prekey_used (
            device TEXT NOT NULL,
            key BLOB NOT NULL,
            used_at INTEGER NOT NULL,
            PRIMARY KEY (device, key)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE pairing_copy (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            -- Counts the transactions that have changed a pairing.
            generation INTEGER NOT NULL,
            -- When pairings were lost; NULL = never.
            lost_at INTEGER
        ) STRICT;
        INSERT INTO push_count VALUES (0, 0, 0, 0, 0, 0);
        """
}
