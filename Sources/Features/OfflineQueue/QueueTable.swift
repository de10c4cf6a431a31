import JSON
package import Store
package import Wire

/// Where the queue lives: made for one piece of work on the store, over its connection.
///
/// ```swift
/// var queue = try QueueTable(connection).load()
/// let change = queue.add(command)
/// try QueueTable(connection).save(change)
/// ```
package struct QueueTable {
    package static let migrations = [
        Migration(
            "queue.1",
            sql: """
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
                -- The newest revision of its settings that each desktop has told.
                CREATE TABLE known_revision (
                    desktop TEXT PRIMARY KEY,
                    revision INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                """)
    ]

    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    /// A row whose parameters cannot be read has failed: it is there to be seen and cleared.
    package func load() throws(StoreError) -> OfflineQueue {
        let commands = try connection.query(
            """
            SELECT id, desktop, method, params, created_at, expires_at, state, tries, error_code, error_message
            FROM queued_command ORDER BY row
            """
        ) { (row) throws(StoreError) -> QueuedCommand in
            let params = (try? JSONValue(parsing: try row.text(3)))?.object
            let state: QueuedCommand.State
            switch (params, try row.text(6)) {
            case (nil, _): state = .failed(QueueFailure("damaged", "cannot read its parameters"))
            case (_, "pending"): state = .pending
            case (_, "sending"): state = .sending
            default:
                state = .failed(
                    QueueFailure(try row.optionalText(8) ?? "unknown", try row.optionalText(9) ?? "it has failed"))
            }
            return QueuedCommand(
                id: RequestID(try row.text(0)), desktop: PeerID(try row.text(1)), method: try row.text(2),
                params: params ?? [:], createdAt: try row.integer(4), expiresAt: try row.integer(5), state: state,
                tries: Int(clamping: try row.integer(7)))
        }
        return OfflineQueue(commands)
    }

    package func save(_ change: OfflineQueue.Change) throws(StoreError) {
        for write in change.writes {
            switch write {
            case .insert(let command): try insert(command)
            case .update(let command): try update(command)
            case .remove(let id):
                try connection.execute("DELETE FROM queued_command WHERE id = ?", [.text(id.text)])
            }
        }
    }

    /// Applies one event to what the table holds. Gives the queue as it is then, and what has changed.
    package func apply(
        _ event: OfflineQueue.Event
    ) throws(StoreError) -> (queue: OfflineQueue, change: OfflineQueue.Change) {
        var queue = try load()
        let change = queue.apply(event)
        try save(change)
        return (queue, change)
    }

    /// The desktop has another key: its rows go on under that id (WireRekey, "Switch").
    package func move(_ old: PeerID, to new: PeerID) throws(StoreError) {
        let ids: [Value] = [.text(new.text), .text(old.text)]
        try connection.execute("UPDATE queued_command SET desktop = ? WHERE desktop = ?", ids)
        try connection.execute(
            "UPDATE OR REPLACE known_revision SET desktop = ? WHERE desktop = ?",
            ids)
    }

    // MARK: Revisions

    package func revisions() throws(StoreError) -> [PeerID: Int64] {
        let rows = try connection.query("SELECT desktop, revision FROM known_revision") { (row) throws(StoreError) in
            (PeerID(try row.text(0)), try row.integer(1))
        }
        return Dictionary(rows) { first, _ in first }
    }

    package func note(revision: Int64, of desktop: PeerID) throws(StoreError) {
        try connection.execute(
            """
            INSERT INTO known_revision(desktop, revision) VALUES (?, ?)
            ON CONFLICT(desktop) DO UPDATE SET revision = excluded.revision
            """, [.text(desktop.text), .integer(revision)])
    }

    /// The desktop was unpaired.
    package func forgetRevision(of desktop: PeerID) throws(StoreError) {
        try connection.execute("DELETE FROM known_revision WHERE desktop = ?", [.text(desktop.text)])
    }

    // MARK: Rows

    private func insert(_ command: QueuedCommand) throws(StoreError) {
        try connection.execute(
            """
            INSERT INTO queued_command(id, desktop, method, params, created_at, expires_at, state, tries, error_code,
                error_message) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .text(command.id.text), .text(command.desktop.text), .text(command.method),
                .text(JSONValue.object(command.params).serialized()), .integer(command.createdAt),
                .integer(command.expiresAt), .text(command.stateName), .integer(Int64(command.tries)),
            ] + failure(of: command))
    }

    private func update(_ command: QueuedCommand) throws(StoreError) {
        try connection.execute(
            """
            UPDATE queued_command SET params = ?, expires_at = ?, state = ?, tries = ?, error_code = ?,
                error_message = ? WHERE id = ?
            """,
            [
                .text(JSONValue.object(command.params).serialized()), .integer(command.expiresAt),
                .text(command.stateName), .integer(Int64(command.tries)),
            ] + failure(of: command) + [.text(command.id.text)])
    }

    private func failure(of command: QueuedCommand) -> [Value] {
        guard case .failed(let failure) = command.state else { return [.null, .null] }
        return [.text(failure.code), .text(failure.message)]
    }
}
