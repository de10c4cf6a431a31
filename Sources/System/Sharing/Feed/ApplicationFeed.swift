package import Hosting
import JSON
package import Store

/// The stored events of a shared role, and how far each program has been given them.
///
/// Made for one piece of work on the store, over its connection. An event is stored once, whatever the number of programs,
/// and is deleted when every known program has had it.
package struct ApplicationFeed {
    package static let migrations = [
        Migration(
            "shared.1",
            sql: """
                CREATE TABLE shared_event (
                    row INTEGER PRIMARY KEY AUTOINCREMENT,
                    source TEXT NOT NULL,
                    name TEXT NOT NULL,
                    desktop TEXT,
                    data TEXT NOT NULL
                ) STRICT;
                CREATE INDEX shared_event_order ON shared_event (source, row);
                CREATE TABLE application (
                    id TEXT PRIMARY KEY,
                    seen INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE application_mark (
                    slot INTEGER PRIMARY KEY,
                    application TEXT NOT NULL REFERENCES application (id) ON DELETE CASCADE,
                    source TEXT NOT NULL,
                    handed INTEGER NOT NULL,
                    offered INTEGER NOT NULL,
                    UNIQUE (application, source)
                ) STRICT;
                """),
        // Events that were dropped before the program was given them, and of which it has not been told.
        Migration("shared.2", sql: "ALTER TABLE application_mark ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0;"),
    ]

    /// Programs that are known at a time.
    package static let applicationLimit: Int64 = 256
    /// Events that are kept for programs that have not had them; beyond that the oldest is dropped.
    package static let capacity: Int64 = 10_000
    /// How long a program is known that isn't running, in milliseconds.
    package static let memory: Int64 = 30 * 86_400_000

    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    // MARK: Programs

    /// The program is running. It is given the events of a source from its first ``join(_:_:)`` on.
    ///
    /// - Parameter handed: what this program says it was given, beyond what is recorded here.
    ///
    /// Errors: `queueFull` beyond ``applicationLimit`` programs.
    package func register(
        _ application: String, handed: [HostEvent.Name: Int64] = [:], now: Int64
    ) throws(StoreError) {
        let id = Value.text(application)
        let isKnown = try connection.integer("SELECT count(*) FROM application WHERE id = ?", [id]) > 0
        if !isKnown, try connection.integer("SELECT count(*) FROM application") >= Self.applicationLimit {
            throw StoreError(
                .queueFull, "\(Self.applicationLimit) programs share this state directory; at most that many can")
        }
        try connection.execute(
            "INSERT INTO application (id, seen) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET seen = ?2",
            [id, .integer(now)])
        for (source, through) in handed { _ = try finish(application, source, through: through) }
    }

    /// The program wants the events of that source. The first time it is given what comes from then on.
    ///
    /// - Returns: whether it was the first time.
    package func join(_ application: String, _ source: HostEvent.Name) throws(StoreError) -> Bool {
        let last = try last()
        return try connection.execute(
            """
            INSERT INTO application_mark (application, source, handed, offered)
                SELECT id, ?2, ?3, ?3 FROM application WHERE id = ?1
                ON CONFLICT (application, source) DO NOTHING
            """, [.text(application), .text(source.rawValue), .integer(last)]) > 0
    }

    /// Whether there is a program that wants the events of that source. Without one they wait for whoever opens the role.
    package func isWanted(_ source: HostEvent.Name) throws(StoreError) -> Bool {
        try connection.integer(
            "SELECT EXISTS (SELECT 1 FROM application_mark WHERE source = ?)", [.text(source.rawValue)]) != 0
    }

    /// Programs in `running` were seen now; those that were not for ``memory`` are forgotten.
    package func prune(running: [String], now: Int64) throws(StoreError) {
        for application in running {
            try connection.execute(
                "UPDATE application SET seen = ? WHERE id = ?", [.integer(now), .text(application)])
        }
        let gone = try connection.query(
            "SELECT id FROM application WHERE seen < ?", [.integer(now &- Self.memory)],
            { (row) throws(StoreError) in try row.text(0) })
        for application in gone { try forget(application) }
    }

    /// Forgets the copies of programs that are not among these.
    package func forgetCopies(except running: Set<String>) throws(StoreError) {
        let copies = try connection.query(
            "SELECT id FROM application WHERE id GLOB '*/*'", [], { (row) throws(StoreError) in try row.text(0) })
        for copy in copies where !running.contains(copy) { try forget(copy) }
    }

    /// The program is as one that never was; what was kept for it alone is deleted.
    package func forget(_ application: String) throws(StoreError) {
        let id = [Value.text(application)]
        try connection.execute("DELETE FROM application_mark WHERE application = ?", id)
        try connection.execute("DELETE FROM application WHERE id = ?", id)
        for source in try connection.query(
            "SELECT DISTINCT source FROM application_mark", [], { (row) throws(StoreError) in try row.text(0) })
        { try deleteHanded(source) }
    }

    // MARK: Events

    /// Stores an event for every program.
    ///
    /// - Parameter takers: programs that take what comes as it comes: their callbacks may see it right after the commit.
    package func add(_ event: HostEvent, of source: HostEvent.Name) throws(StoreError) {
        try connection.execute(
            "INSERT INTO shared_event (source, name, desktop, data) VALUES (?, ?, ?, ?)",
            [
                .text(source.rawValue), .text(event.name.rawValue), event.desktop.map(Value.text) ?? .null,
                .text(JSONValue.object(event.data).serialized()),
            ])
    }

    /// After events were added, in the same transaction: programs that take them as they come may see them right after
    /// the commit. What is beyond ``capacity`` is dropped.
    package func added(_ source: HostEvent.Name, takers: [String]) throws(StoreError) {
        let last = try last()
        for application in takers {
            try connection.execute(
                """
                UPDATE application_mark SET offered = ?3
                    WHERE application = ?1 AND source = ?2 AND handed >= ?3 - \(Self.offeredAhead)
                """, [.text(application), .text(source.rawValue), .integer(last)])
        }
        try dropOldest(through: last &- Self.capacity)
    }

    /// What every program has had is not there any more, so somebody misses each of these.
    private func dropOldest(through row: Int64) throws(StoreError) {
        guard row > 0,
            try connection.integer("SELECT EXISTS (SELECT 1 FROM shared_event WHERE row <= ?)", [.integer(row)]) > 0
        else { return }
        try connection.execute(
            """
            UPDATE application_mark SET dropped = dropped + (
                SELECT count(*) FROM shared_event
                    WHERE shared_event.source = application_mark.source AND row > handed AND row <= ?1)
                WHERE handed < ?1
            """, [.integer(row)])
        try connection.execute("DELETE FROM shared_event WHERE row <= ?1", [.integer(row)])
    }

    /// How far a program may be behind for new events to be offered to it as they are stored.
    private static let offeredAhead: Int64 = 256

    package struct Marks: Sendable, Equatable {
        /// Its place in the file of the programs' ``HandoverMark``s.
        package let slot: Int64
        package let handed: Int64
        /// No callback can have seen an event beyond this one.
        package let offered: Int64
    }

    /// `nil` = no such program.
    package func marks(_ application: String, _ source: HostEvent.Name) throws(StoreError) -> Marks? {
        try connection.first(
            "SELECT slot, handed, offered FROM application_mark WHERE application = ? AND source = ?",
            [.text(application), .text(source.rawValue)]
        ) { (row) throws(StoreError) in
            Marks(slot: try row.integer(0), handed: try row.integer(1), offered: try row.integer(2))
        }
    }

    /// The oldest events that the program has not had, recorded as ones that callbacks may see.
    package func take(
        _ application: String, _ source: HostEvent.Name, limit: Int
    ) throws(StoreError) -> [WaitingEvent] {
        guard let marks = try marks(application, source) else { return [] }
        let events = try connection.query(
            "SELECT row, name, desktop, data FROM shared_event WHERE source = ? AND row > ? ORDER BY row LIMIT ?",
            [.text(source.rawValue), .integer(marks.handed), .integer(limit)]
        ) { (row) throws(StoreError) in
            let data = (try? JSONValue(parsing: try row.text(3)))?.object ?? [:]
            let name = HostEvent.Name(rawValue: try row.text(1)) ?? source
            return WaitingEvent(
                row: try row.integer(0), event: HostEvent(name, desktop: try row.optionalText(2), data: data))
        }
        if let last = events.last, last.row > marks.offered {
            try connection.execute(
                "UPDATE application_mark SET offered = ? WHERE application = ? AND source = ?",
                [.integer(last.row), .text(application), .text(source.rawValue)])
        }
        return events
    }

    /// How many events were dropped before the program was given them, since the last call.
    package func takeDropped(_ application: String, _ source: HostEvent.Name) throws(StoreError) -> Int64 {
        let mark: [Value] = [.text(application), .text(source.rawValue)]
        let dropped = try connection.first(
            "SELECT dropped FROM application_mark WHERE application = ? AND source = ? AND dropped > 0", mark
        ) { (row) throws(StoreError) in try row.integer(0) }
        guard let dropped else { return 0 }
        try connection.execute("UPDATE application_mark SET dropped = 0 WHERE application = ? AND source = ?", mark)
        return dropped
    }

    /// The program has had everything through this row. Never goes back.
    @discardableResult
    package func finish(
        _ application: String, _ source: HostEvent.Name, through row: Int64
    ) throws(StoreError) -> Bool {
        let row = min(row, try last())
        let changed = try connection.execute(
            """
            UPDATE application_mark SET handed = ?3, offered = max(offered, ?3)
                WHERE application = ?1 AND source = ?2 AND handed < ?3
            """, [.text(application), .text(source.rawValue), .integer(row)])
        if changed > 0 { try deleteHanded(source.rawValue) }
        return changed > 0
    }

    /// The program has ended by itself: its callbacks have seen nothing beyond `seen`.
    package func settle(_ application: String, _ source: HostEvent.Name, seen: Int64) throws(StoreError) {
        try connection.execute(
            "UPDATE application_mark SET offered = max(handed, ?3) WHERE application = ?1 AND source = ?2",
            [.text(application), .text(source.rawValue), .integer(seen)])
    }

    private func deleteHanded(_ source: String) throws(StoreError) {
        try connection.execute(
            """
            DELETE FROM shared_event WHERE source = ?1
                AND row <= (SELECT min(handed) FROM application_mark WHERE source = ?1)
            """, [.text(source)])
    }

    private func last() throws(StoreError) -> Int64 {
        try connection.integer("SELECT ifnull(max(seq), 0) FROM sqlite_sequence WHERE name = 'shared_event'")
    }
}
