import Notifications
package import Store

extension Outbox {
    /// The outbox's part of the desktop's file.
    ///
    /// A push lies there once, however many devices it is for; with its last entry it goes.
    package static let migrations = [
        Migration(
            "delivery.outbox.1",
            sql: """
                CREATE TABLE outbox_device (
                    device TEXT PRIMARY KEY NOT NULL,
                    last INTEGER NOT NULL,
                    acknowledged INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE outbox_push (
                    row INTEGER PRIMARY KEY,
                    id TEXT NOT NULL,
                    payload TEXT NOT NULL
                ) STRICT;
                CREATE INDEX outbox_push_id ON outbox_push(id);
                CREATE TABLE outbox (
                    device TEXT NOT NULL,
                    seq INTEGER NOT NULL,
                    push INTEGER NOT NULL,
                    expires_at INTEGER NOT NULL,
                    collapse_key TEXT,
                    PRIMARY KEY (device, seq)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX outbox_of_push ON outbox(push);
                CREATE INDEX outbox_collapse ON outbox(device, collapse_key) WHERE collapse_key IS NOT NULL;
                CREATE TRIGGER outbox_left AFTER DELETE ON outbox BEGIN
                    DELETE FROM outbox_push WHERE row = old.push
                        AND NOT EXISTS (SELECT 1 FROM outbox WHERE push = old.push);
                END;
                CREATE INDEX history_collapse ON history(collapse_key) WHERE collapse_key IS NOT NULL;
                """)
    ]
}
