package import Hosting
import JSON
package import Store

/// The stored events of a shared role that have no table of their own, by source: responses and silent pushes.
///
/// An event is stored once, whatever the number of programs, and is deleted when every known program has had it.
package struct SharedEvents: FeedTable {
    /// Events that are kept for programs that have not had them; beyond that the oldest is dropped.
    package static let capacity: Int64 = 10_000
    /// How far a program may be behind for new events to be offered to it as they are stored.
    private static let offeredAhead: Int64 = 256

    private let source: HostEvent.Name

    package init(_ source: HostEvent.Name) { self.source = source }

    private var name: Value { .text(source.rawValue) }

    // MARK: Programs

    package func join(_ application: String, _ connection: Connection) throws(StoreError) -> Bool {
        try connection.execute(
            """
            INSERT INTO application_mark (application, source, handed, offered)
                SELECT id, ?2, ?3, ?3 FROM application WHERE id = ?1
                ON CONFLICT (application, source) DO NOTHING
            """, [.text(application), name, .integer(try last(connection))]) > 0
    }

    /// Whether there is a program that wants the events. Without one they wait for whoever opens the role.
    package func isWanted(_ connection: Connection) throws(StoreError) -> Bool {
        try connection.integer("SELECT EXISTS (SELECT 1 FROM application_mark WHERE source = ?)", [name]) != 0
    }

    package func begin(_ application: String, _ connection: Connection) throws(StoreError) -> FeedMarks? {
        try connection.first(
            "SELECT slot, handed, offered FROM application_mark WHERE application = ? AND source = ?",
            [.text(application), name]
        ) { (row) throws(StoreError) in
            FeedMarks(slot: try row.integer(0), handed: try row.integer(1), offered: try row.integer(2))
        }
    }

    package func forget(_ application: String, _ connection: Connection) throws(StoreError) {
        try connection.execute(
            "DELETE FROM application_mark WHERE application = ? AND source = ?", [.text(application), name])
        try deleteHanded(connection)
    }

    // MARK: Events

    /// Stores an event for every program.
    package func add(_ event: HostEvent, _ connection: Connection) throws(StoreError) {
        try connection.execute(
            "INSERT INTO shared_event (source, name, desktop, data) VALUES (?, ?, ?, ?)",
            [
                name, .text(event.name.rawValue), event.desktop.map(Value.text) ?? .null,
                .text(JSONValue.object(event.data).serialized()),
            ])
    }

    /// After events were added, in the same transaction: programs that take them as they come may see them right after
    /// the commit. What is beyond ``capacity`` is dropped.
    ///
    /// - Parameter takers: programs that take what comes as it comes.
    package func added(takers: [String], _ connection: Connection) throws(StoreError) {
        let last = try last(connection)
        for application in takers {
            try connection.execute(
                """
                UPDATE application_mark SET offered = ?3
                    WHERE application = ?1 AND source = ?2 AND handed >= ?3 - \(Self.offeredAhead)
                """, [.text(application), name, .integer(last)])
        }
        try dropOldest(through: last &- Self.capacity, connection)
    }

    /// What every program has had is not there any more, so somebody misses each of these.
    private func dropOldest(through row: Int64, _ connection: Connection) throws(StoreError) {
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

    package func take(
        _ application: String, limit: Int, _ size: inout FeedBatch.Size, _ connection: Connection
    ) throws(StoreError) -> [WaitingEvent] {
        guard let marks = try begin(application, connection) else { return [] }
        let events = try connection.prefix(
            "SELECT row, name, desktop, data FROM shared_event WHERE source = ? AND row > ? ORDER BY row LIMIT ?",
            [name, .integer(marks.handed), .integer(Int64(limit))]
        ) { (row) throws(StoreError) -> WaitingEvent? in
            let data = (try? JSONValue(parsing: try row.text(3)))?.object ?? [:]
            let name = HostEvent.Name(rawValue: try row.text(1)) ?? source
            let event = WaitingEvent(
                row: try row.integer(0), event: HostEvent(name, desktop: try row.optionalText(2), data: data))
            return size.fits(event) ? event : nil
        }
        if let last = events.last, last.row > marks.offered {
            try connection.execute(
                "UPDATE application_mark SET offered = ? WHERE application = ? AND source = ?",
                [.integer(last.row), .text(application), name])
        }
        return events
    }

    package func takeDropped(_ application: String, _ connection: Connection) throws(StoreError) -> Int64 {
        let mark: [Value] = [.text(application), name]
        let dropped = try connection.first(
            "SELECT dropped FROM application_mark WHERE application = ? AND source = ? AND dropped > 0", mark
        ) { (row) throws(StoreError) in try row.integer(0) }
        guard let dropped else { return 0 }
        try connection.execute("UPDATE application_mark SET dropped = 0 WHERE application = ? AND source = ?", mark)
        return dropped
    }

    package func finish(
        _ application: String, through row: Int64, _ connection: Connection
    ) throws(StoreError) {
        let row = min(row, try last(connection))
        let changed = try connection.execute(
            """
            UPDATE application_mark SET handed = ?3, offered = max(offered, ?3)
                WHERE application = ?1 AND source = ?2 AND handed < ?3
            """, [.text(application), name, .integer(row)])
        if changed > 0 { try deleteHanded(connection) }
    }

    package func settle(_ application: String, seen: Int64, _ connection: Connection) throws(StoreError) {
        try connection.execute(
            "UPDATE application_mark SET offered = max(handed, ?3) WHERE application = ?1 AND source = ?2",
            [.text(application), name, .integer(seen)])
    }

    private func deleteHanded(_ connection: Connection) throws(StoreError) {
        try connection.execute(
            """
            DELETE FROM shared_event WHERE source = ?1
                AND row <= (SELECT min(handed) FROM application_mark WHERE source = ?1)
            """, [name])
    }

    private func last(_ connection: Connection) throws(StoreError) -> Int64 {
        try connection.integer("SELECT ifnull(max(seq), 0) FROM sqlite_sequence WHERE name = 'shared_event'")
    }
}
