package import JSON
package import Store
package import Wire

/// The answers of a desktop to commands that change something: a repeated command gets the same answer and isn't
/// executed twice (WireMessages, "Repeated and late commands").
///
/// Made for one piece of work on the store, over its connection: an answer is written in the transaction of the effect.
/// It is kept for 48 hours, and at most 10,000 are kept for one device; the oldest go. Only results are kept: a refused
/// command had no effect and may succeed the next time.
package struct AnswerTable {
    package static let migrations = [
        Migration(
            "answers.1",
            sql: """
                CREATE TABLE command_answer (
                    row INTEGER PRIMARY KEY AUTOINCREMENT,
                    device TEXT NOT NULL,
                    id TEXT NOT NULL,
                    method TEXT NOT NULL,
                    answered_at INTEGER NOT NULL,
                    result TEXT NOT NULL,
                    -- 1 = it is what is known so far.
                    open INTEGER NOT NULL CHECK (open IN (0, 1)),
                    UNIQUE (device, id)
                ) STRICT;
                CREATE INDEX command_answer_device ON command_answer(device, row);
                CREATE INDEX command_answer_age ON command_answer(answered_at);
                """),
        // Each device's answers are numbered, so that its oldest are found without counting the others.
        Migration(
            "answers.2",
            sql: """
                DROP INDEX command_answer_device;
                DROP INDEX command_answer_age;
                ALTER TABLE command_answer ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
                UPDATE command_answer SET number = n FROM (
                    SELECT row AS r, row_number() OVER (PARTITION BY device ORDER BY row) AS n FROM command_answer)
                    WHERE row = r;
                -- The newest number of a device, and its oldest answers.
                CREATE INDEX command_answer_number ON command_answer(device, number);
                -- What is closed after a start.
                CREATE INDEX command_answer_open ON command_answer(open) WHERE open = 1;
                """),
    ]

    /// How long an answer is kept, in milliseconds.
    package static let lifetime: EpochMilliseconds = 48 * 60 * 60 * 1_000
    /// So many are kept for one device.
    package static let limit = 10_000
    /// How many answers come between two looks at the limit.
    private static let pruneInterval: Int64 = 128

    /// Which command of whom.
    package struct Key: Sendable, Hashable {
        package var device: PeerID
        package let id: RequestID
        package let method: String

        package init(device: PeerID, id: RequestID, method: String) {
            self.device = device
            self.id = id
            self.method = method
        }
    }

    package struct Answer: Sendable, Equatable {
        /// Of which method. Another one under the same id is a mistake of the device's.
        package let method: String
        package let result: JSONValue
        /// The answer is incomplete: its pushes are still in progress.
        package let isOpen: Bool
    }

    private let connection: Connection
    private let limit: Int

    package init(_ connection: Connection, limit: Int = AnswerTable.limit) {
        self.connection = connection
        self.limit = limit
    }

    /// `nil` = it has not come before.
    package func answer(to key: Key) throws(StoreError) -> Answer? {
        try connection.first(
            "SELECT method, result, open FROM command_answer WHERE device = ? AND id = ?",
            [.text(key.device.text), .text(key.id.text)]
        ) { (row) throws(StoreError) in
            guard let result = try? JSONValue(parsing: try row.text(1)) else {
                throw StoreError(.mismatch, "a stored answer is damaged")
            }
            return Answer(method: try row.text(0), result: result, isOpen: try row.flag(2))
        }
    }

    /// Keeps the answer to a command that has not come before.
    package func keep(
        _ result: JSONValue, isOpen: Bool, to key: Key, now: EpochMilliseconds
    ) throws(StoreError) {
        let device = Value.text(key.device.text)
        let number = try connection.integer(
            "SELECT ifnull(max(number), 0) + 1 FROM command_answer WHERE device = ?", [device])
        try connection.execute(
            """
            INSERT INTO command_answer(device, number, id, method, answered_at, result, open)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                device, .integer(number), .text(key.id.text), .text(key.method), .integer(now),
                .text(result.serialized()), .flag(isOpen),
            ])
        guard connection.lastInsertRow % Self.pruneInterval == 0 else { return }
        try prune(now: now)
        try connection.execute(
            "DELETE FROM command_answer WHERE device = ? AND number <= ?", [device, .integer(number - Int64(limit))])
    }

    /// The answer is complete now.
    package func complete(_ result: JSONValue, to key: Key) throws(StoreError) {
        try connection.execute(
            "UPDATE command_answer SET result = ?, open = 0 WHERE device = ? AND id = ?",
            [.text(result.serialized()), .text(key.device.text), .text(key.id.text)])
    }

    /// The device has another key: its rows go on under that id (WireRekey, "Switch").
    package func move(_ old: PeerID, to new: PeerID) throws(StoreError) {
        let ids: [Value] = [.text(new.text), .text(old.text)]
        try connection.execute(
            "UPDATE OR REPLACE command_answer SET device = ? WHERE device = ?",
            ids)
    }

    /// After a start: of what was open nothing more will be known.
    package func closeAll() throws(StoreError) {
        try connection.execute("UPDATE command_answer SET open = 0 WHERE open = 1")
    }

    /// Deletes expired answers, oldest first.
    package func prune(now: EpochMilliseconds) throws(StoreError) {
        let (oldest, overflow) = now.subtractingReportingOverflow(Self.lifetime)
        guard !overflow else { return }
        try connection.execute(
            """
            DELETE FROM command_answer WHERE row < ifnull(
                (SELECT row FROM command_answer WHERE answered_at >= ? ORDER BY row LIMIT 1), 9223372036854775807)
            """, [.integer(oldest)])
    }
}
