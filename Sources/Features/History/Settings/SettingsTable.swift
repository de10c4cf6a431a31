import JSON
package import Notifications
package import Store
package import Wire

/// Where the desktop keeps its settings: a row for each field that was ever changed.
///
/// Lives for one job of the store, on its connection. Each accepted change increments the revision, and its fields
/// store that number. This shows which newer values the author of a change had not seen.
package struct SettingsTable {
    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    static let migration = Migration(
        "settings.1",
        sql: """
            CREATE TABLE setting (
                name TEXT PRIMARY KEY,
                value TEXT NOT NULL,
                revision INTEGER NOT NULL,
                author TEXT NOT NULL,
                base INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            """)

    /// The settings with their revision: 0 when nothing was ever changed.
    package struct Current: Sendable, Equatable {
        package let settings: DesktopSettings
        package let revision: Int64
    }

    package struct Outcome: Sendable, Equatable {
        package let current: Current
        /// What is another value now.
        package let changed: [SettingsField]
        /// What keeps the desktop's value: somebody else has changed it since the revision on which the change is based.
        package let stale: [SettingsField]
    }

    package func current() throws(StoreError) -> Current {
        let rows = try rows()
        var settings = DesktopSettings()
        for (field, row) in rows { settings.set(field, row.value) }
        return Current(settings: settings, revision: rows.values.map(\.revision).max() ?? 0)
    }

    /// Takes a change field by field. A field that has this value already is neither changed nor stale.
    ///
    /// - Parameter author: the device; `nil` for the desktop's own user. A device's changes come in its own order, so one
    ///   that is based on an old revision is not beaten by an earlier one of the same device.
    package func apply(_ change: SettingsChange, by author: PeerID?) throws(StoreError) -> Outcome {
        let before = try current()
        let rows = try rows()
        let revision = before.revision &+ 1
        let author = author?.text ?? ""
        var changed: [SettingsField] = []
        var stale: [SettingsField] = []
        for field in SettingsField.allCases {
            guard let value = change.values[field], value != before.settings[field] else { continue }
            if let base = change.baseRevision, let row = rows[field], row.beats(base, author) {
                stale.append(field)
                continue
            }
            try connection.execute(
                """
                INSERT INTO setting(name, value, revision, author, base) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT(name) DO UPDATE SET value = excluded.value, revision = excluded.revision,
                    author = excluded.author, base = excluded.base
                """,
                [
                    .text(field.rawValue), .text(value.serialized()), .integer(revision), .text(author),
                    .integer(change.baseRevision ?? revision),
                ])
            changed.append(field)
        }
        return Outcome(current: try current(), changed: changed, stale: stale)
    }

    /// The device has another key: its changes are its own still (WireRekey, "Switch").
    package func move(_ old: PeerID, to new: PeerID) throws(StoreError) {
        try connection.execute(
            "UPDATE setting SET author = ? WHERE author = ?", [.text(new.text), .text(old.text)])
    }

    private struct FieldRow {
        let value: JSONValue
        let revision: Int64
        let author: String
        let base: Int64

        func beats(_ base: Int64, _ author: String) -> Bool {
            revision > base && (self.author != author || self.base > base)
        }
    }

    private func rows() throws(StoreError) -> [SettingsField: FieldRow] {
        let rows = try connection.query("SELECT name, value, revision, author, base FROM setting") {
            (row) throws(StoreError) -> (String, FieldRow) in
            let value = (try? JSONValue(parsing: try row.text(1))) ?? .null
            return (
                try row.text(0),
                FieldRow(
                    value: value, revision: try row.integer(2), author: try row.text(3), base: try row.integer(4))
            )
        }
        var fields: [SettingsField: FieldRow] = [:]
        for (name, row) in rows {
            if let field = SettingsField(rawValue: name) { fields[field] = row }
        }
        return fields
    }
}
