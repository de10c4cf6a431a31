-- A device's file as version 0.1 made it: the inbox and the numbers of received pushes. Written by that version, then
-- dumped. It has pushes that wait, that were being handed over when the process died, and that were handed over; rows of
-- the history, one of which became a push; a replaced push; desktops that are paired, unpaired, and none; settings;
-- changes under way; and a text index that is behind.
CREATE TABLE IF NOT EXISTS migration (
    ordinal INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE
) STRICT;
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
    pushed INTEGER NOT NULL, said_read INTEGER NOT NULL DEFAULT 0, hidden INTEGER NOT NULL DEFAULT 0, uncertain INTEGER NOT NULL DEFAULT 0, seen INTEGER NOT NULL DEFAULT 0, arrival INTEGER NOT NULL DEFAULT 0, search TEXT, replaces TEXT,
    UNIQUE (desktop, id)
) STRICT;
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
CREATE TABLE inbox_touched (
    change INTEGER NOT NULL REFERENCES inbox_change(number) ON DELETE CASCADE,
    row INTEGER NOT NULL REFERENCES inbox(row) ON DELETE CASCADE,
    PRIMARY KEY (change, row)
) STRICT, WITHOUT ROWID;
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
CREATE VIRTUAL TABLE inbox_text USING fts5(
    title, body, search, content='inbox', content_rowid='row',
    tokenize='unicode61 remove_diacritics 2', prefix='2 3');
CREATE TABLE inbox_indexed (one INTEGER PRIMARY KEY CHECK (one = 1), through INTEGER NOT NULL) STRICT;
CREATE TABLE inbox_gone (
    row INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, search TEXT
) STRICT;
CREATE TABLE desktop_settings (
    desktop TEXT PRIMARY KEY NOT NULL,
    settings TEXT NOT NULL,
    revision INTEGER,
    fetched_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE received_push (
    desktop TEXT PRIMARY KEY NOT NULL,
    last INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO migration VALUES (1, 'inbox.1');
INSERT INTO migration VALUES (2, 'inbox.changes');
INSERT INTO migration VALUES (3, 'inbox.text');
INSERT INTO migration VALUES (4, 'inbox.settings');
INSERT INTO migration VALUES (5, 'delivery.inbox.1');
INSERT INTO migration VALUES (6, 'delivery.received.1');
INSERT INTO inbox VALUES (1, 'did:key:z6MkqjzK6yMBL28pSvMz2FAzYtQUg4Jn2Zv9TVymVnfGBk2W', 'p1', 'Push 1, corrected', 'B', 1, 'pc', 1001, 1006, 0, 0, 1, NULL, '{"k":"p1"}', NULL, NULL, NULL, 2, 0, 1, 1, 0, 0, 1, 1, NULL, NULL);
INSERT INTO inbox VALUES (3, 'did:key:z6MkqjzK6yMBL28pSvMz2FAzYtQUg4Jn2Zv9TVymVnfGBk2W', 'p3', 'Push 3', 'Body of p3', 2, 'pc', 1003, 1008, 1, 0, 1, 1700, '{"k":"p3"}', NULL, NULL, NULL, 2, 0, 1, 0, 0, 0, 0, 3, NULL, NULL);
INSERT INTO inbox VALUES (4, 'did:key:z6MkqjzK6yMBL28pSvMz2FAzYtQUg4Jn2Zv9TVymVnfGBk2W', 'p4', 'Push 4', 'Body of p4', 2, 'pc', 1004, 1009, 0, 0, 0, NULL, '{"k":"p4"}', NULL, NULL, NULL, 2, 1, 1, 0, 0, 0, 0, 4, NULL, NULL);
INSERT INTO inbox VALUES (5, 'did:key:z6MkqjzK6yMBL28pSvMz2FAzYtQUg4Jn2Zv9TVymVnfGBk2W', 'p5', 'Push 5', 'Body of p5', 2, 'pc', 1005, 1010, 0, 0, 0, NULL, '{"k":"p5"}', NULL, NULL, NULL, 1, 1, 1, 0, 0, 0, 0, 5, NULL, NULL);
INSERT INTO inbox VALUES (6, 'did:key:z6MkqjzK6yMBL28pSvMz2FAzYtQUg4Jn2Zv9TVymVnfGBk2W', 'p6', 'Push 6', 'Body of p6', 2, 'pc', 1006, 1011, 0, 0, 0, NULL, '{"k":"p6"}', NULL, NULL, NULL, 1, 0, 1, 0, 1, 0, 0, 6, NULL, NULL);
INSERT INTO inbox VALUES (7, 'did:key:z6MkqjzK6yMBL28pSvMz2FAzYtQUg4Jn2Zv9TVymVnfGBk2W', 'h1', 'Reworded', '', 1, 'pc', 501, 2000, 0, 1, 0, NULL, NULL, NULL, NULL, NULL, 2, 0, 0, 0, 0, 0, 0, 7, NULL, NULL);
INSERT INTO inbox VALUES (8, 'did:key:z6MkqjzK6yMBL28pSvMz2FAzYtQUg4Jn2Zv9TVymVnfGBk2W', 'h2', 'History 2 构建完成', '', 1, 'pc', 502, 2000, 0, 1, 1, 600, NULL, NULL, NULL, NULL, 2, 0, 0, 1, 0, 1, 0, 7, 'History 2  构  建  完  成 
', NULL);
INSERT INTO inbox VALUES (9, 'did:key:z6MkqjzK6yMBL28pSvMz2FAzYtQUg4Jn2Zv9TVymVnfGBk2W', 'h3', 'History 3 构建完成', '', 1, 'pc', 503, 508, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, 0, 1, 0, 0, 0, 0, 7, 'History 3  构  建  完  成 
', NULL);
INSERT INTO inbox VALUES (11, 'did:key:z6MkfwnMAqzG1CkBMLVMvdDNdF3Yd5r3rXGd4K5Ykt7RyNeH', 'a', 'Download 10 %', 'Body of a', 2, 'pc', 1100, 1105, 0, 0, 1, 1730, '{"k":"a"}', '{"collapseKey":"download","threadId":"thread"}', 'download', NULL, 0, 0, 1, 0, 0, 0, 0, 8, NULL, NULL);
INSERT INTO inbox VALUES (12, 'push:apns', 'q1', 'T', 'Body of q1', 2, 'pc', 1200, 1205, 0, 0, 0, NULL, '{"k":"q1"}', NULL, NULL, NULL, 0, 0, 1, 0, 0, 0, 0, 9, NULL, NULL);
INSERT INTO inbox VALUES (13, 'desktop-4f1c', 'u1', 'T', 'Body of u1', 2, 'pc', 1210, 1215, 0, 0, 0, NULL, '{"k":"u1"}', NULL, NULL, NULL, 0, 0, 1, 0, 0, 0, 0, 10, NULL, NULL);
INSERT INTO inbox VALUES (14, 'desktop-4f1c', 'u2', 'Away', 'Body of u2', 2, 'pc', 1211, 1216, 0, 0, 1, 1300, '{"k":"u2"}', NULL, NULL, NULL, 0, 0, 1, 1, 0, 0, 0, 11, NULL, NULL);
INSERT INTO inbox VALUES (16, 'did:key:z6MkqjzK6yMBL28pSvMz2FAzYtQUg4Jn2Zv9TVymVnfGBk2W', 'new', 'Build 90 %', 'Body of new', 2, 'pc', 1291, 1296, 0, 0, 0, NULL, '{"k":"new"}', '{"collapseKey":"build","threadId":"thread"}', 'build', NULL, 0, 0, 1, 0, 2, 0, 0, 13, NULL, 'old');
INSERT INTO inbox VALUES (19, 'did:key:z6MkfwnMAqzG1CkBMLVMvdDNdF3Yd5r3rXGd4K5Ykt7RyNeH', 'n1', 'After the index', 'Body of n1', 2, 'pc', 1600, 1605, 0, 0, 1, 1730, '{"k":"n1"}', NULL, NULL, NULL, 0, 0, 1, 0, 0, 0, 0, 14, NULL, NULL);
INSERT INTO inbox_change VALUES (2, 'did:key:z6MkqjzK6yMBL28pSvMz2FAzYtQUg4Jn2Zv9TVymVnfGBk2W', 0, 0, 1, 'request-1', 1700);
INSERT INTO inbox_change VALUES (3, 'did:key:z6MkqjzK6yMBL28pSvMz2FAzYtQUg4Jn2Zv9TVymVnfGBk2W', 2, 0, 0, NULL, 1710);
INSERT INTO inbox_change VALUES (4, 'did:key:z6MkqjzK6yMBL28pSvMz2FAzYtQUg4Jn2Zv9TVymVnfGBk2W', 2, 1, 0, NULL, 1720);
INSERT INTO inbox_change VALUES (5, 'did:key:z6MkfwnMAqzG1CkBMLVMvdDNdF3Yd5r3rXGd4K5Ykt7RyNeH', 1, 0, 0, NULL, 1730);
INSERT INTO inbox_touched VALUES (2, 3);
INSERT INTO inbox_touched VALUES (3, 6);
INSERT INTO inbox_touched VALUES (4, 8);
INSERT INTO inbox_touched VALUES (5, 11);
INSERT INTO inbox_touched VALUES (5, 19);
INSERT INTO inbox_desktop VALUES ('did:key:z6MkfwnMAqzG1CkBMLVMvdDNdF3Yd5r3rXGd4K5Ykt7RyNeH', 0, 0, NULL, 0, 1600, 1100);
INSERT INTO inbox_desktop VALUES ('did:key:z6MkqjzK6yMBL28pSvMz2FAzYtQUg4Jn2Zv9TVymVnfGBk2W', 13, 0, 1450, 1, 1291, NULL);
INSERT INTO inbox_desktop VALUES ('push:apns', 0, 0, NULL, 0, 1200, NULL);
INSERT INTO inbox_indexed VALUES (1, 16);
INSERT INTO inbox_gone VALUES (2, 'Push 2', 'Body of p2', NULL);
INSERT INTO inbox_gone VALUES (7, 'History 1 构建完成', '', 'History 1  构  建  完  成 
');
INSERT INTO desktop_settings VALUES ('did:key:z6MkqjzK6yMBL28pSvMz2FAzYtQUg4Jn2Zv9TVymVnfGBk2W', '{"enabled":true,"quietHoursEnabled":false,"soundEnabled":true,"vibrationEnabled":true,"showPreview":true}', 7, 1400);
INSERT INTO received_push VALUES ('did:key:z6MkfwnMAqzG1CkBMLVMvdDNdF3Yd5r3rXGd4K5Ykt7RyNeH', 7);
INSERT INTO received_push VALUES ('did:key:z6MkqjzK6yMBL28pSvMz2FAzYtQUg4Jn2Zv9TVymVnfGBk2W', 41);
INSERT INTO inbox_text(rowid, title, body, search)
    SELECT row, title, body, search FROM inbox WHERE row <= 16 AND row NOT IN (SELECT row FROM inbox_gone)
    UNION ALL SELECT row, title, body, search FROM inbox_gone;
UPDATE sqlite_sequence SET seq = 19 WHERE name = 'inbox';
UPDATE sqlite_sequence SET seq = 5 WHERE name = 'inbox_change';
CREATE INDEX inbox_pushed ON inbox(pushed) WHERE pushed = 1;
CREATE INDEX inbox_newest ON inbox(created_at);
CREATE INDEX inbox_of ON inbox(desktop, created_at);
CREATE INDEX inbox_unread ON inbox(desktop, created_at) WHERE read = 0 AND hidden = 0;
CREATE INDEX inbox_unhanded ON inbox(arrival) WHERE handed < 2;
CREATE INDEX inbox_change_of ON inbox_change(desktop);
CREATE INDEX inbox_touched_row ON inbox_touched(row);
CREATE INDEX inbox_collapse ON inbox(desktop, collapse_key) WHERE collapse_key IS NOT NULL;
CREATE INDEX inbox_age ON inbox(created_at);
CREATE TRIGGER inbox_left AFTER DELETE ON inbox
    WHEN old.row <= (SELECT through FROM inbox_indexed) BEGIN
    INSERT OR IGNORE INTO inbox_gone VALUES (old.row, old.title, old.body, old.search);
END;
CREATE TRIGGER inbox_reworded AFTER UPDATE OF title, body, search ON inbox
    WHEN old.row <= (SELECT through FROM inbox_indexed)
        AND (old.title, old.body, old.search) IS NOT (new.title, new.body, new.search) BEGIN
    INSERT OR IGNORE INTO inbox_gone VALUES (old.row, old.title, old.body, old.search);
END;
