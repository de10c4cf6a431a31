package import Store

extension AlertTable {
    /// The alerts' part of the device's file.
    package static let migrations = [
        Migration(
            "alerts.1",
            sql: """
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
                    handle TEXT,
                    UNIQUE (desktop, id)
                ) STRICT;
                CREATE INDEX alert_state ON alert(state, row);
                CREATE INDEX alert_handle ON alert(handle) WHERE handle IS NOT NULL;
                -- What was held and is not kept, because others came: it counts.
                CREATE TABLE alert_beyond (
                    state INTEGER PRIMARY KEY,
                    count INTEGER NOT NULL
                ) STRICT;
                -- The authorization, the settings, the categories.
                CREATE TABLE alert_preference (
                    name TEXT PRIMARY KEY NOT NULL,
                    value TEXT NOT NULL
                ) STRICT, WITHOUT ROWID;
                """),
        Migration(
            "alerts.2",
            sql: """
                -- 1 = shown before others that wait. state 4 = held, to make room for others.
                ALTER TABLE alert ADD COLUMN urgent INTEGER NOT NULL DEFAULT 0;
                CREATE INDEX alert_due ON alert(urgent DESC, row) WHERE state = 0;
                """),
        Migration(
            "alerts.3",
            sql: """
                -- The files of images, for as long as their pushes are there.
                CREATE TABLE alert_image (
                    desktop TEXT NOT NULL,
                    id TEXT NOT NULL,
                    path TEXT NOT NULL,
                    PRIMARY KEY (desktop, id)
                ) STRICT;
                CREATE INDEX alert_image_path ON alert_image(path);
                """),
    ]
}
