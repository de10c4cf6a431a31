import JSON
package import Store
package import Wire

/// Events that must not be lost with the process: they are in the store until the host has taken them.
///
/// Made for one piece of work on the store, over its connection: what keeps an event belongs into the transaction of
/// what it tells about. After that commit the role says so with ``HostChannel/waits``.
package struct KeptEvents {
    package static let migrations = [
        Migration(
            "kept.1",
            sql: """
                CREATE TABLE kept_event (
                    row INTEGER PRIMARY KEY AUTOINCREMENT,
                    name TEXT NOT NULL,
                    desktop TEXT,
                    data TEXT NOT NULL,
                    handed INTEGER NOT NULL DEFAULT 0,
                    redelivered INTEGER NOT NULL DEFAULT 0
                ) STRICT;
                CREATE INDEX kept_event_order ON kept_event (name, handed, row);
                """)
    ]

    /// The events that are stored; each name has its own source and limit.
    package static let names: [HostEvent.Name] = [.notificationResponse, .notificationSilent]

    /// Maximum events per name; beyond that the oldest one that is not being delivered is dropped.
    package static let capacity: Int64 = 10_000

    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    /// Keeps an event. `false`: an older one of its name gave way to it.
    @discardableResult
    package func add(_ event: HostEvent) throws(StoreError) -> Bool {
        let name = Value.text(event.name.rawValue)
        try connection.execute(
            "INSERT INTO kept_event (name, desktop, data) VALUES (?, ?, ?)",
            [
                name, event.desktop.map(Value.text) ?? .null,
                .text(JSONValue.object(event.data).serialized()),
            ])
        let gone = try connection.execute(
            """
            DELETE FROM kept_event WHERE name = ?1 AND handed = 0 AND row <= (
                SELECT row FROM kept_event WHERE name = ?1 AND handed = 0 ORDER BY row DESC LIMIT 1 OFFSET ?2)
            """, [name, .integer(Self.capacity)])
        return gone == 0
    }

    /// The oldest that wait, at most `limit`, marked as being handed over.
    package func take(_ name: HostEvent.Name, limit: Int) throws(StoreError) -> [WaitingEvent] {
        let waiting = try connection.query(
            """
            SELECT row, desktop, data, redelivered FROM kept_event WHERE name = ? AND handed = 0 ORDER BY row LIMIT ?
            """, [.text(name.rawValue), .integer(limit)]
        ) { (row) throws(StoreError) in
            var data = (try? JSONValue(parsing: try row.text(2)))?.object ?? [:]
            if try row.integer(3) != 0 { data["redelivered"] = true }
            return WaitingEvent(
                row: try row.integer(0), event: HostEvent(name, desktop: try row.optionalText(1), data: data))
        }
        try mark(waiting.map(\.row), handed: 1)
        return waiting
    }

    /// The host has had `handed`; `untouched` wait again as if never taken.
    package func finish(handed: [Int64], untouched: [Int64]) throws(StoreError) {
        for row in handed { try connection.execute("DELETE FROM kept_event WHERE row = ?", [.integer(row)]) }
        try mark(untouched, handed: 0)
    }

    /// Those that were taken and neither finished nor among `untouched` come again, and say so. At opening, for each
    /// name: what was being handed over when the process died. Gives how many.
    @discardableResult
    package func recover(_ name: HostEvent.Name, untouched: [Int64] = []) throws(StoreError) -> Int {
        try mark(untouched, handed: 0)
        return try connection.execute(
            "UPDATE kept_event SET handed = 0, redelivered = 1 WHERE name = ? AND handed = 1", [.text(name.rawValue)])
    }

    /// How many wait for the host.
    package func count(_ name: HostEvent.Name) throws(StoreError) -> Int64 {
        try connection.integer(
            "SELECT count(*) FROM kept_event WHERE name = ? AND handed = 0", [.text(name.rawValue)])
    }

    /// The desktop has another key: its rows go on under that id (WireRekey, "Switch").
    package func move(_ old: PeerID, to new: PeerID) throws(StoreError) {
        let ids: [Value] = [.text(new.text), .text(old.text)]
        try connection.execute("UPDATE kept_event SET desktop = ? WHERE desktop = ?", ids)
    }

    private func mark(_ rows: [Int64], handed: Int64) throws(StoreError) {
        for row in rows {
            try connection.execute("UPDATE kept_event SET handed = ? WHERE row = ?", [.integer(handed), .integer(row)])
        }
    }
}

/// The kept events of one name, for the host's thread: every call waits for the store.
package final class KeptEventSource: EventSource {
    package let name: HostEvent.Name
    private let database: Database

    package init(_ name: HostEvent.Name, _ database: Database) {
        self.name = name
        self.database = database
    }

    package func take(limit: Int) throws(HostError) -> [WaitingEvent] {
        let taken = try run { [name] (events) throws(StoreError) in try events.take(name, limit: limit) }
        if !taken.isEmpty { FailPoint.beforeHandOver.reach() }
        return taken
    }

    package func finish(handed: [Int64], untouched: [Int64]) throws(HostError) {
        FailPoint.beforeMark.reach()
        try run { (events) throws(StoreError) in try events.finish(handed: handed, untouched: untouched) }
        FailPoint.afterMark.reach()
    }

    package func restore(untouched: [Int64]) throws(HostError) {
        try run { [name] (events) throws(StoreError) in _ = try events.recover(name, untouched: untouched) }
    }

    private func run<T: Sendable>(
        _ work: @escaping @Sendable (KeptEvents) throws(StoreError) -> T
    ) throws(HostError) -> T {
        do throws(StoreError) {
            return try database.run { (connection) throws(StoreError) in try work(KeptEvents(connection)) }
        } catch {
            throw HostError(error)
        }
    }
}

extension HostChannel {
    /// An older event gave way to a newer one: the host takes none.
    package func tooManyKept(_ name: HostEvent.Name) {
        problem(
            "too_many_kept",
            "\(KeptEvents.capacity) events \(name.rawValue) wait for the program, so the oldest was dropped; subscribe and "
                + "dispatch")
    }
}
