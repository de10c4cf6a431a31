import Notifications
package import Store

extension Inbox {
    /// How far a row is on its way to the host.
    enum Handed: Int64 {
        case waiting = 0
        /// The host's callback may be running with it.
        case dispatching = 1
        case handed = 2
    }

    // `handed < 2` is there for the planner: it uses a partial index only where the index's own condition stands.
    // The plus keeps it from walking through the rows themselves.

    /// Rows that wait for the host, in the order of arrival.
    ///
    /// - Parameters:
    ///   - limit: at most so many.
    ///   - row: only rows after this one; 0 for all.
    package func takeForHost(limit: Int, after row: Int64) throws(StoreError) -> [Entry] {
        try connection.query(
            "SELECT \(Inbox.columns) FROM inbox WHERE handed < 2 AND handed = 0 AND +row > ? ORDER BY arrival LIMIT ?",
            [.integer(row), .integer(limit)], Inbox.entry)
    }

    /// How many wait for the host.
    package func waitingForHost() throws(StoreError) -> Int64 {
        try connection.integer("SELECT count(*) FROM inbox WHERE handed < 2 AND handed = 0")
    }

    /// Before the host's callback runs with them.
    package func markDispatching(_ rows: [Int64]) throws(StoreError) { try mark(rows, .dispatching) }

    /// After the host's callback has returned.
    package func markHanded(_ rows: [Int64]) throws(StoreError) {
        try mark(rows, .handed)
        for row in rows { try connection.execute("DELETE FROM inbox WHERE row = ? AND hidden = 2", [.integer(row)]) }
    }

    /// The host took others of its batch, and not these: they wait again as if never taken.
    package func markWaiting(_ rows: [Int64]) throws(StoreError) { try mark(rows, .waiting) }

    /// Once after opening: what was being handed over when the process died comes again, and says so
    /// (`protocol.md` 4.4, the promise). Gives how many.
    package func recoverDispatching() throws(StoreError) -> Int {
        try connection.execute("UPDATE inbox SET handed = 0, redelivered = 1 WHERE handed < 2 AND handed = 1")
    }

    private func mark(_ rows: [Int64], _ state: Handed) throws(StoreError) {
        for row in rows {
            try connection.execute(
                "UPDATE inbox SET handed = ? WHERE row = ?", [.integer(state.rawValue), .integer(row)])
        }
    }
}
