import Listing
import Notifications
package import Store

extension Outbox {
    /// The outbox's part of the desktop's file.
    package static let migrations = [first] + PeerNumbers.migrations + [references, epochs]

    private static let first = Migration(
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

    /// Says in the history's rows under which numbers they wait.
    package static let noteSent = """
        UPDATE history SET sent = waiting.sent FROM (
            SELECT push, group_concat(device || ':' || seq, ' ') AS sent FROM outbox WHERE push > 0 GROUP BY push
        ) AS waiting WHERE history.row = waiting.push;
        """

    /// The devices that name the epoch of what they acknowledge.
    private static let epochs = Migration(
        "delivery.outbox.3",
        sql: "CREATE TABLE outbox_epoch (device INTEGER PRIMARY KEY REFERENCES peer(number)) STRICT;")

    /// Devices as numbers, and entries that refer to the history instead of holding a copy of their push.
    ///
    /// A positive `push` is a row of the history, a negative one a copy in `outbox_push`: of pushes whose row the history
    /// has let go, and of those from before this step. The indexes:
    /// - `outbox_of_push`: who still waits for a row that leaves the history, and the entries of a push that is withdrawn.
    /// - `outbox_collapse`: what a push with a `collapseKey` replaces; without one it costs nothing.
    private static let references = Migration("delivery.outbox.2") { (connection) throws(StoreError) in
        try PeerNumbers.adopt("device", of: "outbox_device", connection)
        try PeerNumbers.adopt("device", of: "outbox", connection)
        try connection.executeScript(
            """
            DROP TRIGGER outbox_left;
            DROP INDEX outbox_of_push;
            DROP INDEX outbox_collapse;
            ALTER TABLE outbox RENAME TO outbox_1;
            ALTER TABLE outbox_device RENAME TO outbox_device_1;
            CREATE TABLE outbox_device (
                device INTEGER PRIMARY KEY REFERENCES peer(number),
                last INTEGER NOT NULL,
                acknowledged INTEGER NOT NULL
            ) STRICT;
            CREATE TABLE outbox (
                device INTEGER NOT NULL,
                seq INTEGER NOT NULL,
                push INTEGER NOT NULL,
                expires_at INTEGER NOT NULL,
                collapse_key TEXT,
                PRIMARY KEY (device, seq)
            ) STRICT, WITHOUT ROWID;
            INSERT INTO outbox_device SELECT number, last, acknowledged FROM outbox_device_1
                JOIN peer ON id = device;
            INSERT INTO outbox SELECT number, seq, -push, expires_at, collapse_key FROM outbox_1
                JOIN peer ON id = device;
            DROP TABLE outbox_1;
            DROP TABLE outbox_device_1;
            CREATE INDEX outbox_of_push ON outbox(push);
            CREATE INDEX outbox_collapse ON outbox(device, collapse_key) WHERE collapse_key IS NOT NULL;
            CREATE TRIGGER outbox_left AFTER DELETE ON outbox WHEN old.push < 0 BEGIN
                DELETE FROM outbox_push WHERE row = -old.push
                    AND NOT EXISTS (SELECT 1 FROM outbox WHERE push = old.push);
            END;
            """)
    }
}
