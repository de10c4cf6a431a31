import JSON
package import Store

/// The stored reminders. Lives for one job of the store, on its connection.
package struct ReminderTable {
    package static let migrations = [
        Migration(
            "reminders.1",
            sql: """
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
                ) STRICT
                """)
    ]

    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    /// In the order in which they were added. Unreadable rows are skipped, because their time is unknown.
    package func all() throws(StoreError) -> [Reminder] {
        let rows = try connection.query(
            "SELECT id, content, trigger, added_at, next_at, next_time, last_at, side FROM reminder ORDER BY row"
        ) { (row) throws(StoreError) -> Reminder? in
            guard let content = (try? JSONValue(parsing: try row.text(1)))?.object,
                let json = try? JSONValue(parsing: try row.text(2)), let trigger = try? Trigger(parsing: json)
            else { return nil }
            return Reminder(
                id: AlertID(try row.text(0)), content: AlertContent(stored: content), trigger: trigger,
                addedAt: try row.integer(3), nextAt: try row.optionalInteger(4),
                nextTime: try row.optionalInteger(5), lastAt: try row.optionalInteger(6),
                side: Region.Side(rawValue: try row.text(7)) ?? .unknown)
        }
        return rows.compactMap(\.self)
    }

    package func save(_ change: ReminderSchedule.Change) throws(StoreError) {
        for write in change.writes {
            switch write {
            case .save(let reminder): try save(reminder)
            case .remove(let id):
                try connection.execute("DELETE FROM reminder WHERE id = ?", [.text(id.text)])
            }
        }
    }

    private func save(_ reminder: Reminder) throws(StoreError) {
        try connection.execute(
            """
            INSERT INTO reminder(id, content, trigger, added_at, next_at, next_time, last_at, side)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT(id) DO UPDATE SET content = excluded.content, trigger = excluded.trigger,
                added_at = excluded.added_at, next_at = excluded.next_at, next_time = excluded.next_time,
                last_at = excluded.last_at, side = excluded.side
            """,
            [
                .text(reminder.id.text), .text(JSONValue.object(reminder.content.json).serialized()),
                .text(JSONValue.object(reminder.trigger.json).serialized()), .integer(reminder.addedAt),
                .optional(reminder.nextAt), .optional(reminder.nextTime), .optional(reminder.lastAt),
                .text(reminder.side.rawValue),
            ])
    }
}
