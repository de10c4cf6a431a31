import JSON
package import Store
package import Wire

/// The alerts that are on their way, held back, or on the screen.
///
/// Made for one piece of work on the store, over its connection. An alert enters in the transaction of the push or of the
/// reminder that it is made of, so that none is lost, and leaves when it is hidden, answered or taken back.
package struct AlertTable {
    /// So many of each hold are kept for its digest; the older ones are counted only.
    package static let heldLimit: Int64 = 256
    /// So many are known as delivered; the older ones are forgotten.
    package static let deliveredLimit: Int64 = 500

    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    // MARK: In

    package struct Added: Sendable, Equatable {
        package let row: Int64
        /// The banner whose place it takes, if that is still there.
        package let handle: String?
        /// Banners to close: of two alerts that it takes the place of, one.
        package let obsolete: [String]
    }

    /// Stores an alert, in place of the one with its key, and of the one that it replaces by a collapse key. Runs of those
    /// two are to be withdrawn.
    package func add(_ alert: NewAlert, replacing replaced: AlertID? = nil) throws(StoreError) -> Added {
        var keys = [alert.key]
        if let replaced { keys.append(AlertKey(desktop: alert.key.desktop, id: replaced)) }
        var handles: [String] = []
        for key in keys {
            let taken = try connection.query(
                "DELETE FROM alert WHERE desktop = ? AND id = ? RETURNING handle", AlertTable.values(of: key)
            ) { (row) throws(StoreError) in try row.optionalText(0) }
            handles += taken.compactMap(\.self)
        }
        try connection.execute(
            """
            INSERT INTO alert(desktop, id, content, thread, source, state, silenced, reminder, late, due_at, handle)
            VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?)
            """,
            AlertTable.values(of: alert.key) + [
                .text(JSONValue.object(alert.content.json).serialized()), .optional(alert.content.thread),
                .optional(alert.source), .flag(alert.isSilenced), .flag(alert.isReminder), .flag(alert.isLate),
                .integer(alert.dueAt), .optional(handles.first),
            ])
        return Added(row: connection.lastInsertRow, handle: handles.first, obsolete: Array(handles.dropFirst()))
    }

    // MARK: On its way

    /// What is to be run after a start, the oldest first, in pages: until one is empty.
    package func due(after row: Int64 = 0, limit: Int = 256) throws(StoreError) -> [AlertRow] {
        try rows("state = 0 AND row > ? ORDER BY row LIMIT ?", [.integer(row), .integer(limit)])
    }

    /// Enrichment has found more.
    @discardableResult
    package func update(_ row: Int64, _ content: AlertContent) throws(StoreError) -> Bool {
        try connection.execute(
            "UPDATE alert SET content = ?, thread = ? WHERE row = ?",
            [
                .text(JSONValue.object(content.json).serialized()), .optional(content.thread), .integer(row),
            ]) > 0
    }

    /// It was shown. Gives the banners of those that are not known as delivered any more, beyond ``deliveredLimit``; `nil`
    /// when the alert is not there any more: then nobody will close its banner, and it is to be closed at once.
    package func delivered(
        _ row: Int64, at moment: EpochMilliseconds, handle: String?
    ) throws(StoreError) -> [String]? {
        let isThere = try connection.execute(
            "UPDATE alert SET state = 3, shown_at = ?, handle = ? WHERE row = ?",
            [.integer(moment), .optional(handle), .integer(row)])
        guard isThere > 0 else { return nil }
        let forgotten = try connection.query(
            """
            DELETE FROM alert WHERE state = 3 AND row NOT IN (
                SELECT row FROM alert WHERE state = 3 ORDER BY shown_at DESC, row DESC LIMIT ?)
            RETURNING handle
            """, [.integer(AlertTable.deliveredLimit)]
        ) { (row) throws(StoreError) in try row.optionalText(0) }
        return forgotten.compactMap(\.self)
    }

    /// It is hidden, or was answered. Gives the banner that is there in its place.
    @discardableResult
    package func drop(_ row: Int64) throws(StoreError) -> String? {
        try connection.first("DELETE FROM alert WHERE row = ? RETURNING handle", [.integer(row)]) {
            (row) throws(StoreError) in try row.optionalText(0)
        } ?? nil
    }

    // MARK: Held

    /// It waits for a digest. Gives the banner whose place it would have taken.
    @discardableResult
    package func hold(_ row: Int64, _ hold: AlertDecision.Hold) throws(StoreError) -> String? {
        let state = Value.integer(AlertRow.State(hold).rawValue)
        let handle = try connection.first(
            "SELECT handle FROM alert WHERE row = ?", [.integer(row)]
        ) { (row) throws(StoreError) in try row.optionalText(0) }
        try connection.execute(
            "UPDATE alert SET state = ?, handle = NULL WHERE row = ?", [state, .integer(row)])
        let beyond = try connection.execute(
            """
            DELETE FROM alert WHERE state = ?1 AND row NOT IN (
                SELECT row FROM alert WHERE state = ?1 ORDER BY row DESC LIMIT ?2)
            """, [state, .integer(AlertTable.heldLimit)])
        if beyond > 0 { try count(beyond, in: state) }
        return handle ?? nil
    }

    /// How many wait for this digest.
    package func heldCount(_ hold: AlertDecision.Hold) throws(StoreError) -> Int64 {
        try connection.integer(
            """
            SELECT (SELECT count(*) FROM alert WHERE state = ?1)
                + ifnull((SELECT count FROM alert_beyond WHERE state = ?1), 0)
            """, [.integer(AlertRow.State(hold).rawValue)])
    }

    /// The newest first.
    package func held(_ hold: AlertDecision.Hold, limit: Int = Digest.lines) throws(StoreError) -> [AlertRow] {
        try rows("state = ? ORDER BY row DESC LIMIT ?", [.integer(AlertRow.State(hold).rawValue), .integer(limit)])
    }

    /// Makes one alert of all that wait for this digest, which is due now; `nil` when none does.
    package func release(_ hold: AlertDecision.Hold, at moment: EpochMilliseconds) throws(StoreError) -> AlertRow? {
        let count = try heldCount(hold)
        guard count > 0 else { return nil }
        let held = try held(hold)
        let digest = Digest.content(of: held.map(\.content), count: count, hold: hold)
        try forget(hold)
        let key = AlertKey(desktop: nil, id: Digest.id(hold))
        // As a reminder: it is the program's own, and what makes it late was heeded before.
        let added = try add(NewAlert(key, digest, dueAt: moment, isReminder: true))
        return try find(added.row)
    }

    /// Those that come late, when their digest would come in quiet hours: they wait for that one.
    package func moveLateToQuiet() throws(StoreError) {
        let count = try connection.integer("SELECT ifnull((SELECT count FROM alert_beyond WHERE state = 2), 0)")
        try connection.execute("DELETE FROM alert_beyond WHERE state = 2")
        if count > 0 { try self.count(Int(clamping: count), in: 1) }
        try connection.execute("UPDATE alert SET state = 1 WHERE state = 2")
    }

    /// None of them waits any more, as when alerts are switched off.
    package func forget(_ hold: AlertDecision.Hold) throws(StoreError) {
        let state = Value.integer(AlertRow.State(hold).rawValue)
        try connection.execute("DELETE FROM alert WHERE state = ?", [state])
        try connection.execute("DELETE FROM alert_beyond WHERE state = ?", [state])
    }

    private func count(_ number: Int, in state: Value) throws(StoreError) {
        try connection.execute(
            """
            INSERT INTO alert_beyond(state, count) VALUES (?, ?)
            ON CONFLICT(state) DO UPDATE SET count = count + excluded.count
            """, [state, .integer(number)])
    }

    // MARK: Asking

    package func find(_ row: Int64) throws(StoreError) -> AlertRow? { try rows("row = ?", [.integer(row)]).first }

    package func find(_ key: AlertKey) throws(StoreError) -> AlertRow? {
        try rows("desktop = ? AND id = ?", AlertTable.values(of: key)).first
    }

    /// The alert that a banner shows.
    package func find(handle: String) throws(StoreError) -> AlertRow? {
        try rows("handle = ? ORDER BY row DESC LIMIT 1", [.text(handle)]).first
    }

    /// The newest first.
    package func delivered() throws(StoreError) -> [AlertRow] {
        try rows("state = 3 ORDER BY shown_at DESC, row DESC LIMIT ?", [.integer(AlertTable.deliveredLimit)])
    }

    // MARK: Out

    package enum Which: Sendable, Equatable {
        case keys([AlertKey])
        /// Of whatever desktop.
        case id(AlertID)
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
        case .id(let id): return try remove("id = ?2", [flag, .text(id.text)])
        case .thread(let thread): return try remove("thread = ?2", [flag, .text(thread)])
        case .desktop(let desktop): return try remove("desktop = ?2", [flag, .text(desktop.text)])
        case .all: return try remove("1", [flag])
        }
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

    // MARK: Rows

    private static func values(of key: AlertKey) -> [Value] { [.text(key.desktop?.text ?? ""), .text(key.id.text)] }

    private static func key(_ desktop: String, _ id: String) -> AlertKey {
        AlertKey(desktop: desktop.isEmpty ? nil : PeerID(desktop), id: AlertID(id))
    }

    /// What cannot be read is dropped: it can be neither shown nor answered.
    private func rows(_ condition: String, _ values: [Value]) throws(StoreError) -> [AlertRow] {
        while true {
            var damaged: [Int64] = []
            let rows = try connection.query(
                """
                SELECT row, desktop, id, content, state, source, silenced, reminder, late, due_at, shown_at, handle
                FROM alert WHERE \(condition)
                """, values
            ) { (row) throws(StoreError) -> AlertRow? in
                let content = (try? JSONValue(parsing: try row.text(3)))?.object
                guard let content, let state = AlertRow.State(rawValue: try row.integer(4)) else {
                    damaged.append(try row.integer(0))
                    return nil
                }
                return AlertRow(
                    row: try row.integer(0), key: AlertTable.key(try row.text(1), try row.text(2)),
                    content: AlertContent(stored: content), state: state, source: try row.optionalText(5),
                    isSilenced: try row.flag(6), isReminder: try row.flag(7), isLate: try row.flag(8),
                    dueAt: try row.integer(9), shownAt: try row.optionalInteger(10), handle: try row.optionalText(11))
            }
            guard !damaged.isEmpty else { return rows.compactMap(\.self) }
            for row in damaged { try connection.execute("DELETE FROM alert WHERE row = ?", [.integer(row)]) }
        }
    }
}
