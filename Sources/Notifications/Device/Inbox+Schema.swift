package import Store

extension Inbox {
    /// The inbox's part of the device's file.
    package static let migrations = [
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
    ]
}
