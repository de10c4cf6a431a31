PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE migration (
    ordinal INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO migration VALUES(1,'sealing.1');
INSERT INTO migration VALUES(2,'sealing.2');
INSERT INTO migration VALUES(3,'revoked.1');
INSERT INTO migration VALUES(4,'rekey.1');
INSERT INTO migration VALUES(5,'pairing.desktops.1');
INSERT INTO migration VALUES(6,'pairing.desktops.2');
INSERT INTO migration VALUES(7,'pairing.desktops.3');
INSERT INTO migration VALUES(8,'peer.1');
INSERT INTO migration VALUES(9,'inbox.1');
INSERT INTO migration VALUES(10,'inbox.changes');
INSERT INTO migration VALUES(11,'inbox.text');
INSERT INTO migration VALUES(12,'inbox.settings');
INSERT INTO migration VALUES(13,'delivery.inbox.1');
INSERT INTO migration VALUES(14,'inbox.2');
INSERT INTO migration VALUES(15,'inbox.hints');
INSERT INTO migration VALUES(16,'delivery.received.1');
INSERT INTO migration VALUES(17,'queue.1');
INSERT INTO migration VALUES(18,'kept.1');
INSERT INTO migration VALUES(19,'tokens.device.1');
INSERT INTO migration VALUES(20,'alerts.1');
INSERT INTO migration VALUES(21,'alerts.2');
INSERT INTO migration VALUES(22,'alerts.3');
INSERT INTO migration VALUES(23,'reminders.1');
INSERT INTO migration VALUES(24,'prekeys.device.1');
INSERT INTO migration VALUES(25,'pairings.copy.1');
INSERT INTO migration VALUES(26,'shared.1');
INSERT INTO migration VALUES(27,'shared.2');
CREATE TABLE seal_start (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    epoch INTEGER NOT NULL
) STRICT;
INSERT INTO seal_start VALUES(1,1795823026109);
CREATE TABLE seal_window (
    peer TEXT PRIMARY KEY NOT NULL,
    window BLOB NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO seal_window VALUES('did:key:z6MknMjSP2Kzoex75vMXpSrZN8LJ12RRVPVJrnMqiVnMAx1w',X'01000001a21f64bfba00000000000000020000000000000006000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001a21f64bfb97fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff');
CREATE TABLE seal_peer (
    peer TEXT PRIMARY KEY NOT NULL,
    minimum INTEGER NOT NULL,
    psk BLOB
) STRICT, WITHOUT ROWID;
INSERT INTO seal_peer VALUES('did:key:z6MknMjSP2Kzoex75vMXpSrZN8LJ12RRVPVJrnMqiVnMAx1w',2,X'3c8632e472c7a5b80cb163ec91f06daa86c0d3fa8f2a3a46dc57330d1a2b6748');
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
INSERT INTO paired_desktop VALUES('did:key:z6MknMjSP2Kzoex75vMXpSrZN8LJ12RRVPVJrnMqiVnMAx1w','did:key:z6MknMjSP2Kzoex75vMXpSrZN8LJ12RRVPVJrnMqiVnMAx1w','Desk','linux','ws://127.0.0.1:38183','ws://127.0.0.1:38183',NULL,NULL,1795823026160,1795823026199,1,1795823026160,1795823026160,629295,1);
CREATE TABLE peer (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO peer VALUES(1,'did:key:z6MknMjSP2Kzoex75vMXpSrZN8LJ12RRVPVJrnMqiVnMAx1w');
PRAGMA writable_schema=ON;
INSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql)VALUES('table','inbox_text','inbox_text',0,'CREATE VIRTUAL TABLE inbox_text USING fts5(
    title, body, search, content=''inbox'', content_rowid=''row'',
    tokenize=''unicode61 remove_diacritics 2'', prefix=''2 3'')');
CREATE TABLE IF NOT EXISTS 'inbox_text_data'(id INTEGER PRIMARY KEY, block BLOB);
INSERT INTO inbox_text_data VALUES(1,X'');
INSERT INTO inbox_text_data VALUES(10,X'00000000000000');
CREATE TABLE IF NOT EXISTS 'inbox_text_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS 'inbox_text_docsize'(id INTEGER PRIMARY KEY, sz BLOB);
CREATE TABLE IF NOT EXISTS 'inbox_text_config'(k PRIMARY KEY, v) WITHOUT ROWID;
INSERT INTO inbox_text_config VALUES('version',4);
CREATE TABLE inbox_gone (
    row INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, search TEXT
) STRICT;
CREATE TABLE desktop_settings (
    desktop TEXT PRIMARY KEY NOT NULL,
    settings TEXT NOT NULL,
    revision INTEGER,
    fetched_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO desktop_settings VALUES('did:key:z6MknMjSP2Kzoex75vMXpSrZN8LJ12RRVPVJrnMqiVnMAx1w','{"enabled":true,"quietHoursEnabled":false,"quietHoursStart":"22:00","quietHoursEnd":"08:00","soundEnabled":true,"vibrationEnabled":true,"showPreview":true,"retentionRows":10000,"retentionDays":90}',0,1795823026228);
CREATE TABLE inbox_indexed (low INTEGER PRIMARY KEY, high INTEGER NOT NULL) STRICT;
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
    replaces TEXT, hint INTEGER NOT NULL DEFAULT 0, hint_number INTEGER,
    UNIQUE (desktop, id)
) STRICT;
INSERT INTO inbox VALUES(1,1,'01a21f64-c600-7237-b7af-8eb4aa507170','p1','body of p1',1,'pc',1795823027712,1795823027713,0,0,0,NULL,NULL,NULL,NULL,NULL,0,0,0,0,1,NULL,NULL,0,NULL);
INSERT INTO inbox VALUES(4,1,'01a21f64-c635-7e38-a7d9-98e17417422b','p4','body of p4',1,'pc',1795823027765,1795823027766,0,0,0,NULL,NULL,'{"collapseKey":"k"}','k',NULL,0,0,0,0,4,NULL,'01a21f64-c633-7ab8-9a0a-5e0d53041538',0,NULL);
INSERT INTO inbox VALUES(5,1,'01a21f64-c64b-794f-893d-32ad2d801d3b','p5','body of p5',3,'pc',1795823027787,1795823027788,0,0,0,NULL,'{"n":5}',NULL,NULL,NULL,0,0,0,0,5,NULL,NULL,0,NULL);
INSERT INTO inbox VALUES(6,1,'01a21f64-c665-70c4-a08e-8bbf7486b123','p6','body of p6',1,'pc',1795823027813,1795823027814,0,0,0,NULL,NULL,NULL,NULL,NULL,0,0,0,0,6,NULL,NULL,0,NULL);
INSERT INTO inbox VALUES(7,1,'01a21f64-c666-7a33-bf9f-b5f8a5d75608','p7','body of p7',1,'pc',1795823027814,1795823027815,0,0,0,NULL,NULL,NULL,NULL,NULL,0,0,0,0,7,NULL,NULL,0,NULL);
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
INSERT INTO inbox_host VALUES(1,7,7,7,0);
CREATE TABLE inbox_count (
    desktop INTEGER PRIMARY KEY,
    total INTEGER NOT NULL,
    unread INTEGER NOT NULL
) STRICT;
INSERT INTO inbox_count VALUES(1,5,5);
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
CREATE TABLE inbox_touched (
    change INTEGER NOT NULL REFERENCES inbox_change(number) ON DELETE CASCADE,
    row INTEGER NOT NULL REFERENCES inbox(row) ON DELETE CASCADE,
    PRIMARY KEY (change, row)
) STRICT, WITHOUT ROWID;
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
INSERT INTO inbox_desktop VALUES(1,0,1,1795823026226,1,1795823027814,NULL);
CREATE TABLE received_push (
    desktop TEXT PRIMARY KEY NOT NULL,
    last INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO received_push VALUES('did:key:z6MknMjSP2Kzoex75vMXpSrZN8LJ12RRVPVJrnMqiVnMAx1w',7);
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
INSERT INTO known_revision VALUES('did:key:z6MknMjSP2Kzoex75vMXpSrZN8LJ12RRVPVJrnMqiVnMAx1w',0);
CREATE TABLE kept_event (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    desktop TEXT,
    data TEXT NOT NULL,
    handed INTEGER NOT NULL DEFAULT 0,
    redelivered INTEGER NOT NULL DEFAULT 0
) STRICT;
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
CREATE TABLE alert_beyond (
    state INTEGER PRIMARY KEY,
    count INTEGER NOT NULL
) STRICT;
CREATE TABLE alert_preference (
    name TEXT PRIMARY KEY NOT NULL,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE alert_image (
    desktop TEXT NOT NULL,
    id TEXT NOT NULL,
    path TEXT NOT NULL,
    PRIMARY KEY (desktop, id)
) STRICT;
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
INSERT INTO pairing_copy VALUES(1,3,NULL);
CREATE TABLE shared_event (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    source TEXT NOT NULL,
    name TEXT NOT NULL,
    desktop TEXT,
    data TEXT NOT NULL
) STRICT;
INSERT INTO shared_event VALUES(2,'notification.received','notification.received','did:key:z6MknMjSP2Kzoex75vMXpSrZN8LJ12RRVPVJrnMqiVnMAx1w','{"id":"01a21f64-c631-7763-8d39-bfcaec5c9bdc","title":"p2","body":"body of p2","priority":"normal","source":"pc","createdAt":1795823027761,"receivedAt":1795823027762,"silenced":false,"late":false,"data":{}}');
INSERT INTO shared_event VALUES(3,'notification.received','notification.received','did:key:z6MknMjSP2Kzoex75vMXpSrZN8LJ12RRVPVJrnMqiVnMAx1w','{"id":"01a21f64-c633-7ab8-9a0a-5e0d53041538","title":"p3","body":"body of p3","priority":"normal","source":"pc","createdAt":1795823027763,"receivedAt":1795823027764,"silenced":false,"late":false,"data":{},"collapseKey":"k"}');
INSERT INTO shared_event VALUES(4,'notification.received','notification.updated','did:key:z6MknMjSP2Kzoex75vMXpSrZN8LJ12RRVPVJrnMqiVnMAx1w','{"id":"01a21f64-c635-7e38-a7d9-98e17417422b","title":"p4","body":"body of p4","priority":"normal","source":"pc","createdAt":1795823027765,"receivedAt":1795823027766,"silenced":false,"late":false,"data":{},"collapseKey":"k","replaces":"01a21f64-c633-7ab8-9a0a-5e0d53041538"}');
INSERT INTO shared_event VALUES(5,'notification.received','notification.received','did:key:z6MknMjSP2Kzoex75vMXpSrZN8LJ12RRVPVJrnMqiVnMAx1w','{"id":"01a21f64-c64b-794f-893d-32ad2d801d3b","title":"p5","body":"body of p5","priority":"urgent","source":"pc","createdAt":1795823027787,"receivedAt":1795823027788,"silenced":false,"late":false,"data":{"n":5}}');
INSERT INTO shared_event VALUES(6,'notification.received','notification.received','did:key:z6MknMjSP2Kzoex75vMXpSrZN8LJ12RRVPVJrnMqiVnMAx1w','{"id":"01a21f64-c665-70c4-a08e-8bbf7486b123","title":"p6","body":"body of p6","priority":"normal","source":"pc","createdAt":1795823027813,"receivedAt":1795823027814,"silenced":false,"late":false,"data":{}}');
INSERT INTO shared_event VALUES(7,'notification.received','notification.received','did:key:z6MknMjSP2Kzoex75vMXpSrZN8LJ12RRVPVJrnMqiVnMAx1w','{"id":"01a21f64-c666-7a33-bf9f-b5f8a5d75608","title":"p7","body":"body of p7","priority":"normal","source":"pc","createdAt":1795823027814,"receivedAt":1795823027815,"silenced":false,"late":false,"data":{}}');
CREATE TABLE application (
    id TEXT PRIMARY KEY,
    seen INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO application VALUES('org.example.away',1795823026400);
INSERT INTO application VALUES('org.example.crashed',1795823026711);
INSERT INTO application VALUES('org.example.here',1795823026155);
CREATE TABLE application_mark (
    slot INTEGER PRIMARY KEY,
    application TEXT NOT NULL REFERENCES application (id) ON DELETE CASCADE,
    source TEXT NOT NULL,
    handed INTEGER NOT NULL,
    offered INTEGER NOT NULL, dropped INTEGER NOT NULL DEFAULT 0,
    UNIQUE (application, source)
) STRICT;
INSERT INTO application_mark VALUES(1,'org.example.here','notification.received',5,7,0);
INSERT INTO application_mark VALUES(2,'org.example.away','notification.received',1,1,0);
INSERT INTO application_mark VALUES(3,'org.example.crashed','notification.received',3,4,0);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('peer',1);
INSERT INTO sqlite_sequence VALUES('inbox',7);
INSERT INTO sqlite_sequence VALUES('shared_event',7);
INSERT INTO sqlite_sequence VALUES('inbox_change',1);
CREATE INDEX paired_desktop_pc_peer_id ON paired_desktop (pc_peer_id);
CREATE INDEX inbox_newest ON inbox(created_at);
CREATE INDEX inbox_of ON inbox(desktop, created_at);
CREATE INDEX inbox_unread ON inbox(desktop, created_at) WHERE read = 0 AND hidden = 0;
CREATE INDEX inbox_arrival ON inbox(arrival) WHERE arrival > 0;
CREATE INDEX inbox_collapse ON inbox(desktop, collapse_key) WHERE collapse_key IS NOT NULL;
CREATE INDEX inbox_withdrawn ON inbox(arrival) WHERE hidden = 2;
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
        WHERE ifnull((SELECT high FROM inbox_indexed WHERE low <= old.row ORDER BY low DESC LIMIT 1), 0) >= old.row;
END;
CREATE TRIGGER inbox_reworded AFTER UPDATE OF title, body, search ON inbox
    WHEN ifnull((SELECT high FROM inbox_indexed WHERE low <= old.row ORDER BY low DESC LIMIT 1), 0) >= old.row
        AND (old.title, old.body, old.search) IS NOT (new.title, new.body, new.search) BEGIN
    INSERT OR IGNORE INTO inbox_gone VALUES (old.row, old.title, old.body, old.search);
END;
CREATE INDEX inbox_change_of ON inbox_change(desktop);
CREATE INDEX inbox_touched_row ON inbox_touched(row);
CREATE INDEX kept_event_order ON kept_event (name, handed, row);
CREATE INDEX alert_state ON alert(state, row);
CREATE INDEX alert_handle ON alert(handle) WHERE handle IS NOT NULL;
CREATE INDEX alert_due ON alert(urgent DESC, row) WHERE state = 0;
CREATE INDEX alert_image_path ON alert_image(path);
CREATE INDEX prekey_of ON prekey(desktop, number);
CREATE INDEX shared_event_order ON shared_event (source, row);
PRAGMA writable_schema=OFF;
COMMIT;
