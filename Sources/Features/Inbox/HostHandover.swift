package import Store

extension Inbox {
    /// How far the host has taken pushes, by their `arrival`.
    package struct Watermarks: Sendable, Equatable {
        /// The newest push.
        package var last: Int64
        /// Every push through this one was handed over.
        package var handed: Int64
        /// No callback can have seen a push beyond this one.
        package var offered: Int64
        /// Pushes that wait for the host.
        package var waiting: Int64
        /// The mark of the program that is the most behind, of those that share the device; `nil` = there is none.
        package var lowest: Int64?
    }
}

/// Records which pushes were delivered to a program that doesn't share the device: the row of the device in `push_count`.
///
/// Made for one piece of work on the store, over its connection.
package struct HostHandover {
    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    package func watermarks() throws(StoreError) -> Inbox.Watermarks { try stored().marks }

    /// The watermarks, and the inbox's last row.
    func stored() throws(StoreError) -> (marks: Inbox.Watermarks, row: Int64) {
        let stored = try connection.first(
            """
            SELECT last, handed, offered, waiting, (SELECT min(handed) FROM inbox_program), row FROM push_count
            WHERE peer = 0
            """
        ) { (row) throws(StoreError) in
            let marks = Inbox.Watermarks(
                last: try row.integer(0), handed: try row.integer(1), offered: try row.integer(2),
                waiting: try row.integer(3), lowest: try row.optionalInteger(4))
            return (marks, try row.integer(5))
        }
        guard let stored else { throw StoreError(.mismatch, "the inbox's watermarks are missing") }
        return stored
    }

    /// Called before callbacks can see pushes through this arrival. Never goes back.
    package func offer(through arrival: Int64) throws(StoreError) {
        try connection.execute(
            "UPDATE push_count SET offered = min(last, ?1) WHERE peer = 0 AND offered < min(last, ?1)",
            [.integer(arrival)])
    }

    /// Called after the host's callbacks have returned: every push through this arrival was handed over.
    ///
    /// - Parameter next: later callbacks may see pushes through this arrival.
    /// - Returns: the arrival through which callbacks may now see pushes.
    @discardableResult
    package func finish(through arrival: Int64, offering next: Int64) throws(StoreError) -> Int64 {
        let marks = try watermarks()
        guard arrival > marks.handed else {
            try offer(through: next)
            return max(marks.offered, min(next, marks.last))
        }
        let through = min(arrival, marks.last)
        let offered = max(marks.offered, through, min(next, marks.last))
        let count = try connection.integer(
            "SELECT count(*) FROM inbox WHERE arrival > ? AND arrival <= ? AND arrival > 0",
            [.integer(marks.handed), .integer(through)])
        // The mark first: the rows deleted below then count as handed over.
        try connection.execute(
            "UPDATE push_count SET handed = ?, offered = ?, waiting = waiting - ? WHERE peer = 0",
            [.integer(through), .integer(offered), .integer(count)])
        try connection.execute("DELETE FROM inbox WHERE hidden = 2 AND arrival <= \(InboxPrograms.released)")
        return offered
    }

    /// Called on a clean exit: pushes that were offered but not taken come as new the next time.
    ///
    /// - Parameter arrival: callbacks may have seen pushes through it that are not marked as handed over.
    package func withdrawOffer(beyond arrival: Int64) throws(StoreError) {
        try connection.execute(
            "UPDATE push_count SET offered = max(handed, ?1) WHERE peer = 0 AND offered > max(handed, ?1)",
            [.integer(arrival)])
    }
}
