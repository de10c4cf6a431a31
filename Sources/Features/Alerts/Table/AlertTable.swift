import JSON
package import Store
package import Wire

/// The alerts that are on their way, held back, or on the screen.
///
/// Lives for one job of the store, on its connection. An alert is added in the transaction of its push or reminder, so
/// that none is lost, and removed when it is hidden, answered or withdrawn.
package struct AlertTable {
    /// So many of each hold are kept for its digest; the older ones are counted only.
    package static let heldLimit: Int64 = 256
    /// So many are known as delivered; the older ones are forgotten.
    package static let deliveredLimit: Int64 = 500
    /// A list of them ends before their contents have more bytes as JSON, escapes included; one alert there is always.
    package static let deliveredBytes = 2 << 20

    let connection: Connection

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
            INSERT INTO alert(
                desktop, id, content, thread, source, state, silenced, reminder, late, due_at, handle, urgent)
            VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?)
            """,
            AlertTable.values(of: alert.key) + [
                .text(JSONValue.object(alert.content.json).serialized()), .optional(alert.content.thread),
                .optional(alert.source), .flag(alert.isSilenced), .flag(alert.isReminder), .flag(alert.isLate),
                .integer(alert.dueAt), .optional(handles.first), .flag(alert.comesFirst),
            ])
        return Added(row: connection.lastInsertRow, handle: handles.first, obsolete: Array(handles.dropFirst()))
    }

    // MARK: On its way

    /// Alerts to show: urgent ones and reminders first, then the oldest.
    package func due(limit: Int = 256) throws(StoreError) -> [AlertRow] {
        try rows("state = 0 ORDER BY urgent DESC, row LIMIT ?", [.integer(limit)])
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

    /// Maximum alerts in progress; a program that shows none for days has the inbox.
    package static let dueLimit: Int64 = 1_000

    /// The youngest.
    package func lastRow() throws(StoreError) -> Int64 {
        try connection.integer("SELECT ifnull(max(row), 0) FROM alert")
    }

    /// If more than ``dueLimit`` are in progress, the oldest that is neither urgent nor a reminder waits for a digest;
    /// if there is none, the oldest. Returns it, with the banner that it would have replaced.
    package func makeRoom() throws(StoreError) -> (row: AlertRow, handle: String?)? {
        guard try connection.integer("SELECT count(*) FROM alert WHERE state = 0") > AlertTable.dueLimit,
            let row = try rows("state = 0 ORDER BY urgent OR reminder, row LIMIT 1", []).first
        else { return nil }
        return (row, try hold(row.row, .tooMany))
    }

    /// Whether more than that many alerts of a desktop's source came within the second up to that moment.
    package func isBurst(_ alert: NewAlert, limit: Int64) throws(StoreError) -> Bool {
        try connection.integer(
            "SELECT count(*) FROM alert WHERE desktop = ? AND source = ? AND due_at > ? AND due_at <= ?",
            [
                .text(alert.key.desktop?.text ?? ""), .optional(alert.source), .integer(alert.dueAt &- 1_000),
                .integer(alert.dueAt),
            ]) > limit
    }

    /// Those of pushes, in whatever state, with whose they are.
    package func ofDesktops(in table: String = "alert") throws(StoreError) -> [(AlertKey, PeerID)] {
        try connection.query("SELECT desktop, id FROM \(table) WHERE desktop <> ''") { (row) throws(StoreError) in
            let desktop = PeerID(try row.text(0))
            return (AlertKey(desktop: desktop, id: AlertID(try row.text(1))), desktop)
        }
    }

    package struct Delivered: Sendable, Equatable {
        /// Whether it is still in the list of delivered alerts; otherwise it was replaced or withdrawn in the meantime.
        package let isThere: Bool
        /// Banners that no row refers to any more.
        package let close: [String]

        package init(isThere: Bool, close: [String]) { (self.isThere, self.close) = (isThere, close) }
    }

    /// It was shown. The oldest of more than ``deliveredLimit`` are forgotten.
    package func delivered(
        _ row: Int64, at moment: EpochMilliseconds, handle: String?
    ) throws(StoreError) -> Delivered {
        let isThere = try connection.execute(
            "UPDATE alert SET state = 3, shown_at = ?, handle = ? WHERE row = ?",
            [.integer(moment), .optional(handle), .integer(row)])
        guard isThere > 0 else {
            // Unless another alert has taken its place: the server uses the same number for both.
            let isFree = try handle.map { (handle) throws(StoreError) in try find(handle: handle) == nil } ?? false
            return Delivered(isThere: false, close: isFree ? [handle].compactMap(\.self) : [])
        }
        let forgotten = try connection.query(
            """
            DELETE FROM alert WHERE state = 3 AND row NOT IN (
                SELECT row FROM alert WHERE state = 3 ORDER BY row DESC LIMIT ?)
            RETURNING handle
            """, [.integer(AlertTable.deliveredLimit)]
        ) { (row) throws(StoreError) in try row.optionalText(0) }
        return Delivered(isThere: true, close: forgotten.compactMap(\.self))
    }

    /// It is hidden, or was answered. Gives the banner that is there in its place.
    @discardableResult
    package func drop(_ row: Int64) throws(StoreError) -> String? {
        try connection.first("DELETE FROM alert WHERE row = ? RETURNING handle", [.integer(row)]) {
            (row) throws(StoreError) in try row.optionalText(0)
        } ?? nil
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

    /// Those of a thread together: the thread with the newest alert first, and its newest alert first.
    ///
    /// - Parameter bytes: ends the list before their contents, as JSON, are more.
    package func delivered(bytes: Int = .max) throws(StoreError) -> [AlertRow] {
        try rows(
            // Without a thread, each is alone.
            "state = 3 ORDER BY max(row) OVER (PARTITION BY ifnull(thread, row)) DESC, row DESC LIMIT ?",
            [.integer(AlertTable.deliveredLimit)], bytes: bytes)
    }

    // MARK: Rows

    static func values(of key: AlertKey) -> [Value] { [.text(key.desktop?.text ?? ""), .text(key.id.text)] }

    static func key(_ desktop: String, _ id: String) -> AlertKey {
        AlertKey(desktop: desktop.isEmpty ? nil : PeerID(desktop), id: AlertID(id))
    }

    /// Unreadable rows are dropped: they can be neither shown nor answered.
    func rows(_ condition: String, _ values: [Value], bytes: Int = .max) throws(StoreError) -> [AlertRow] {
        while true {
            var damaged: [Int64] = []
            var size = 0
            let rows = try connection.prefix(
                """
                SELECT row, desktop, id, content, state, source, silenced, reminder, late, due_at, shown_at, handle
                FROM alert WHERE \(condition)
                """, values
            ) { (row) throws(StoreError) -> AlertRow?? in
                let text = try row.text(3)
                guard size == 0 || size + text.utf8.count <= bytes else { return nil }
                size += text.utf8.count
                let content = (try? JSONValue(parsing: text))?.object
                guard let content, let state = AlertRow.State(rawValue: try row.integer(4)) else {
                    damaged.append(try row.integer(0))
                    return .some(nil)
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
