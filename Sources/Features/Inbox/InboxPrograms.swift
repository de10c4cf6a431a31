package import Store

/// How far each program that shares the device has taken pushes, by their `arrival`: the table `inbox_program`.
///
/// Made for one piece of work on the store, over its connection. Pushes are stored once, whatever the number of programs;
/// a row that is deleted or replaced stays, hidden, until every program has had it.
///
/// While there is such a program and the device is shared, nothing waits for the host of ``HostHandover``: what it had
/// not taken is for the first program that joins.
package struct InboxPrograms {
    static let migration = Migration(
        "inbox.programs",
        sql: """
            CREATE TABLE inbox_program (
                -- Its place in the file of what callbacks are about to see; 0 is that of a program that does not share.
                slot INTEGER PRIMARY KEY CHECK (slot > 0),
                application TEXT NOT NULL UNIQUE,
                -- Every push through this arrival was handed over.
                handed INTEGER NOT NULL,
                -- No callback can have seen a push beyond this arrival. It may be ahead of the push that came last.
                offered INTEGER NOT NULL,
                -- Pushes that were dropped before the program got them, and that it doesn't know of yet.
                dropped INTEGER NOT NULL DEFAULT 0
            ) STRICT;
            """)

    package struct Marks: Sendable, Equatable {
        package let slot: Int64
        package let handed: Int64
        /// No callback can have seen a push beyond this one.
        package let offered: Int64
    }

    /// Pushes that are kept for programs that have not had them; beyond that the oldest are dropped.
    package static let capacity: Int64 = 10_000
    /// How far ahead of what a program has had pushes are offered to it: taking these writes nothing.
    package static let offeredAhead: Int64 = 256

    /// Every program has had every push through this arrival.
    static let released = """
        (SELECT min(handed, ifnull((SELECT min(handed) FROM inbox_program), handed)) FROM push_count WHERE peer = 0)
        """

    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    // MARK: Programs

    package func isAny() throws(StoreError) -> Bool {
        try connection.integer("SELECT EXISTS (SELECT 1 FROM inbox_program)") != 0
    }

    /// The program gets the pushes that come from now on; the first one also those that wait for the host.
    ///
    /// - Parameter seen: callbacks of a program that didn't share the device may have seen pushes through this arrival.
    /// - Returns: `false` if it has joined before.
    package func join(_ application: String, seen: Int64) throws(StoreError) -> Bool {
        let host = try HostHandover(connection).watermarks()
        let isFirst = try !isAny()
        let handed = isFirst ? host.handed : host.last
        let isNew =
            try connection.execute(
                """
                INSERT INTO inbox_program (application, handed, offered) VALUES (?, ?, ?)
                    ON CONFLICT (application) DO NOTHING
                """, [.text(application), .integer(handed), .integer(isFirst ? max(handed, seen) : handed)]) > 0
        if isNew { try adopt() }
        return isNew
    }

    /// What waits for the host is for the programs that share the device, if there are any.
    package func adopt() throws(StoreError) {
        try connection.execute(
            """
            UPDATE push_count SET handed = last, offered = last, waiting = 0
                WHERE peer = 0 AND handed < last AND EXISTS (SELECT 1 FROM inbox_program)
            """)
    }

    package func forget(_ application: String) throws(StoreError) {
        try connection.execute("DELETE FROM inbox_program WHERE application = ?", [.text(application)])
        try deleteReleased()
    }

    /// `nil` = no such program.
    package func marks(_ application: String) throws(StoreError) -> Marks? {
        try connection.first(
            """
            SELECT slot, handed, min(offered, max(handed, (SELECT last FROM push_count WHERE peer = 0)))
                FROM inbox_program WHERE application = ?
            """, [.text(application)]
        ) { (row) throws(StoreError) in
            Marks(slot: try row.integer(0), handed: try row.integer(1), offered: try row.integer(2))
        }
    }

    // MARK: Pushes

    /// The oldest pushes that the program has not had, in order, recorded as ones that callbacks may see.
    ///
    /// - Parameter fits: called with each push; the first that doesn't fit ends the batch.
    package func take(
        _ application: String, limit: Int, fits: (Inbox.Entry) -> Bool = { _ in true }
    ) throws(StoreError) -> [Inbox.Entry] {
        guard let marks = try marks(application) else { return [] }
        let entries = try Inbox(connection).pushes(after: marks.handed, limit: limit, fits: fits)
        if let last = entries.last { try offer(application, through: last.arrival) }
        return entries
    }

    /// Called before callbacks can see pushes through this arrival. Never goes back.
    package func offer(_ application: String, through arrival: Int64) throws(StoreError) {
        try connection.execute(
            "UPDATE inbox_program SET offered = ?2 WHERE application = ?1 AND offered < ?2",
            [.text(application), .integer(arrival)])
    }

    /// How many pushes were dropped before the program got them, since the last call.
    package func takeDropped(_ application: String) throws(StoreError) -> Int64 {
        let dropped = try connection.first(
            "SELECT dropped FROM inbox_program WHERE application = ? AND dropped > 0", [.text(application)]
        ) { (row) throws(StoreError) in try row.integer(0) }
        guard let dropped else { return 0 }
        try connection.execute("UPDATE inbox_program SET dropped = 0 WHERE application = ?", [.text(application)])
        return dropped
    }

    /// The program has had every push through this arrival. Never goes back.
    ///
    /// - Returns: the arrival through which its callbacks may now see pushes; `nil` = nothing changed.
    @discardableResult
    package func finish(_ application: String, through arrival: Int64) throws(StoreError) -> Int64? {
        let through = min(arrival, try HostHandover(connection).watermarks().last)
        let offered = through.addingReportingOverflow(Self.offeredAhead).partialValue
        let changed = try connection.execute(
            """
            UPDATE inbox_program SET handed = ?2, offered = max(offered, ?3) WHERE application = ?1 AND handed < ?2
            """, [.text(application), .integer(through), .integer(max(through, offered))])
        guard changed > 0 else { return nil }
        try deleteReleased()
        return max(through, offered)
    }

    /// The program has ended by itself: its callbacks have seen nothing beyond `seen`.
    package func settle(_ application: String, seen: Int64) throws(StoreError) {
        try connection.execute(
            "UPDATE inbox_program SET offered = max(handed, ?2) WHERE application = ?1",
            [.text(application), .integer(seen)])
    }

    /// Pushes were stored: programs that are more than ``capacity`` behind miss what is beyond it.
    ///
    /// - Parameters:
    ///   - last: the push that came last.
    ///   - lowest: the mark of the program that is the most behind.
    /// - Returns: the arrival through which pushes were dropped; 0 = none was.
    func dropOldest(last: Int64, lowest: Int64) throws(StoreError) -> Int64 {
        let bound = last &- Self.capacity
        guard bound > lowest, bound > 0 else { return 0 }
        try connection.execute(
            """
            UPDATE inbox_program SET handed = ?1, offered = max(offered, ?1), dropped = dropped + (
                SELECT count(*) FROM inbox WHERE arrival > max(inbox_program.handed, 0) AND arrival <= ?1)
                WHERE handed < ?1
            """, [.integer(bound)])
        try deleteReleased()
        return bound
    }

    /// Corrects marks that a damaged file can have.
    func repair() throws(StoreError) -> Int {
        try connection.execute(
            """
            WITH host(last) AS (SELECT last FROM push_count WHERE peer = 0)
            UPDATE inbox_program SET handed = max(0, min(handed, (SELECT last FROM host))),
                offered = max(0, min(handed, (SELECT last FROM host)), min(offered, (SELECT last FROM host)))
                WHERE handed NOT BETWEEN 0 AND (SELECT last FROM host) OR offered < handed
            """)
    }

    private func deleteReleased() throws(StoreError) {
        try connection.execute("DELETE FROM inbox WHERE hidden = 2 AND arrival <= \(Self.released)")
    }
}
