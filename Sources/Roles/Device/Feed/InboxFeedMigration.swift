import Inbox
import JSON
import Listing
import Notifications
import Store
import Wire

/// From the schema in which a shared device kept a copy of each push, as JSON, until every program had it: marks refer to
/// the inbox's own arrivals now.
///
/// What some program has not had gets the newest arrivals, in its order: the inbox's row if there is one, else a hidden
/// row that is deleted when every program has had it. What waits for a program that doesn't share the device stays behind
/// that.
enum InboxFeedMigration {
    static let migration = Migration("shared.3") { (connection) throws(StoreError) in
        var plan = try Plan(connection)
        try plan.moveEvents()
        try plan.moveWaiting()
        try plan.moveMarks()
        for table in ["shared_event", "application_mark"] {
            try connection.execute("DELETE FROM \(table) WHERE source = 'notification.received'")
        }
        try Inbox(connection).counts.repair()
    }

    private struct Plan {
        /// Of one event: its row, and the arrival that it has now.
        private struct Moved {
            let row: Int64
            let arrival: Int64
        }

        private let connection: Connection
        private let host: Inbox.Watermarks
        private var last: Int64
        private var moved: [Moved] = []

        init(_ connection: Connection) throws(StoreError) {
            self.connection = connection
            host = try HostHandover(connection).watermarks()
            last = host.last
        }

        private mutating func advance() throws(StoreError) {
            guard last < .max else { throw StoreError(.mismatch, "the inbox's watermarks are out of range") }
            last += 1
        }

        /// One at a time: together they may be large.
        mutating func moveEvents() throws(StoreError) {
            let rows = try connection.query(
                """
                SELECT row FROM shared_event WHERE source = 'notification.received' AND row >
                    (SELECT min(handed) FROM application_mark WHERE source = 'notification.received') ORDER BY row
                """
            ) { (row) throws(StoreError) in try row.integer(0) }
            for row in rows {
                let event = try connection.first(
                    "SELECT desktop, data FROM shared_event WHERE row = ?", [.integer(row)]
                ) { (row) throws(StoreError) in (try row.optionalText(0), try row.text(1)) }
                guard let (desktop, text) = event, let desktop,
                    let data = (try? JSONValue(parsing: text))?.object, let push = Notification(received: data)
                else { continue }
                try advance()
                moved.append(Moved(row: row, arrival: last))
                try keep(
                    push, of: PeerNumbers(connection).number(of: PeerID(desktop)), replaces: data["replaces"]?.string)
            }
        }

        /// A second push under the same id moves the first one behind itself: programs get it once.
        private func keep(
            _ push: Notification, of desktop: Int64, replaces: String?
        ) throws(StoreError) {
            let known = try connection.execute(
                "UPDATE inbox SET arrival = ? WHERE desktop = ? AND id = ?",
                [.integer(last), .integer(desktop), .text(push.id.text)])
            guard known == 0 else { return }
            try connection.execute(
                """
                INSERT INTO inbox(row, desktop, arrival, said_read, hidden, hint, replaces, \(StoredNotification.columns))
                    VALUES ((SELECT row + 1 FROM push_count WHERE peer = 0), ?, ?, 1, 2, ?, ?,
                        \(StoredNotification.placeholders))
                """,
                [.integer(desktop), .integer(last), .flag(push.isHint), .optional(replaces)]
                    + StoredNotification.values(push))
            try connection.execute(
                "UPDATE push_count SET row = ? WHERE peer = 0", [.integer(connection.lastInsertRow)])
            // It never comes back by its key: a newer push has replaced it, or the user has deleted it.
            try connection.execute(
                "UPDATE inbox SET collapse_key = NULL WHERE row = ?", [.integer(connection.lastInsertRow)])
        }

        /// What waits for a program that doesn't share the device.
        mutating func moveWaiting() throws(StoreError) {
            guard !moved.isEmpty else { return }
            let handed = last
            let waiting = try connection.query(
                "SELECT row, arrival FROM inbox WHERE arrival > ? AND arrival <= ? ORDER BY arrival",
                [.integer(host.handed), .integer(host.last)]
            ) { (row) throws(StoreError) in (try row.integer(0), try row.integer(1)) }
            var offered = handed
            for (row, arrival) in waiting {
                try advance()
                if arrival <= host.offered { offered = last }
                try connection.execute("UPDATE inbox SET arrival = ? WHERE row = ?", [.integer(last), .integer(row)])
            }
            try connection.execute(
                "UPDATE push_count SET last = ?, handed = ?, offered = ?, waiting = ? WHERE peer = 0",
                [.integer(last), .integer(handed), .integer(offered), .integer(Int64(waiting.count))])
        }

        func moveMarks() throws(StoreError) {
            let marks = try connection.query(
                """
                SELECT application, handed, offered, dropped FROM application_mark
                    WHERE source = 'notification.received' ORDER BY slot
                """
            ) { (row) throws(StoreError) in
                (try row.text(0), try row.integer(1), try row.integer(2), try row.integer(3))
            }
            for (application, handed, offered, dropped) in marks {
                try connection.execute(
                    "INSERT INTO inbox_program (application, handed, offered, dropped) VALUES (?, ?, ?, ?)",
                    [
                        .text(application), .integer(arrival(through: handed)), .integer(arrival(through: offered)),
                        .integer(dropped),
                    ])
            }
        }

        /// The arrival of the last event through this row.
        private func arrival(through row: Int64) -> Int64 {
            moved.last { $0.row <= row }?.arrival ?? moved.first.map { $0.arrival - 1 } ?? last
        }
    }
}

extension Notification {
    /// From the data of its event; `nil` = not a push.
    fileprivate init?(received data: JSONObject) {
        guard let id = data["id"]?.string, let title = data["title"]?.string else { return nil }
        self.init(
            id: NotificationID(id), title: title, body: data["body"]?.string ?? "",
            priority: data["priority"]?.string.flatMap(Priority.init(name:)) ?? .normal,
            source: data["source"]?.string.flatMap(NotificationSource.init(rawValue:)) ?? .pc,
            createdAt: data["createdAt"]?.integer ?? 0, receivedAt: data["receivedAt"]?.integer ?? 0,
            silenced: data["silenced"]?.bool ?? false, late: data["late"]?.bool ?? false,
            data: data["data"]?.object, richer: RicherFields(beside: data, inside: nil))
        isHint = data["hint"]?.bool ?? false
    }
}
