package import Store
package import Wire

// What is taken back.
extension AlertTable {
    package enum Which: Sendable, Equatable {
        case keys([AlertKey])
        case thread(String)
        /// Of a desktop that was unpaired.
        case desktop(PeerID)
        case all
    }

    package struct Removed: Sendable, Equatable {
        package let row: Int64
        package let key: AlertKey
        package let state: AlertRow.State
        /// The banner to close.
        package let handle: String?
    }

    /// Takes alerts back. Runs of those that were due are to be withdrawn, banners closed.
    ///
    /// - Parameter deliveredOnly: what is on its way, or held, stays.
    package func remove(_ which: Which, deliveredOnly: Bool = false) throws(StoreError) -> [Removed] {
        let flag = Value.flag(deliveredOnly)
        switch which {
        case .keys(let keys):
            var removed: [Removed] = []
            for key in keys {
                removed += try remove("desktop = ?2 AND id = ?3", [flag] + AlertTable.values(of: key))
            }
            return removed
        case .thread(let thread): return try remove("thread = ?2", [flag, .text(thread)])
        case .desktop(let desktop): return try remove("desktop = ?2", [flag, .text(desktop.text)])
        case .all:
            if !deliveredOnly { try connection.execute("DELETE FROM alert_beyond") }
            return try remove("1", [flag])
        }
    }

    /// The desktop has another key: its rows go on under that id (WireRekey, "Switch").
    package func move(_ old: PeerID, to new: PeerID) throws(StoreError) {
        let ids: [Value] = [.text(new.text), .text(old.text)]
        try connection.execute("UPDATE OR REPLACE alert SET desktop = ? WHERE desktop = ?", ids)
        try connection.execute("UPDATE OR REPLACE alert_image SET desktop = ? WHERE desktop = ?", ids)
    }

    private func remove(_ condition: String, _ values: [Value]) throws(StoreError) -> [Removed] {
        try connection.query(
            "DELETE FROM alert WHERE (?1 = 0 OR state = 3) AND \(condition) RETURNING row, desktop, id, state, handle",
            values
        ) { (row) throws(StoreError) in
            Removed(
                row: try row.integer(0), key: AlertTable.key(try row.text(1), try row.text(2)),
                state: AlertRow.State(rawValue: try row.integer(3)) ?? .due, handle: try row.optionalText(4))
        }
    }
}
