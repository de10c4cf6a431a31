package import Store

extension History {
    /// The history's part of the desktop's file.
    ///
    /// The counts are kept by triggers, so that `total` and `unreadCount` are true without counting a million rows.
    package static let migrations = [
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
    ]
}
