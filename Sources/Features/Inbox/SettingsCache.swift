package import JSON
package import Notifications
package import Store
package import Wire

/// Desktops' settings as they last reported them, for reading offline. Not the device's own settings.
///
/// Made for one piece of work on the store, over its connection; its table is among ``Inbox/migrations``.
package struct SettingsCache {
    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    package struct Entry: Sendable, Equatable {
        package let settings: Settings
        /// Of Bellwire desktops.
        package let revision: Int64?
        package let fetchedAt: EpochMilliseconds

        /// As `bw_inbox_settings` gives it.
        package var json: JSONObject {
            ["settings": .object(shown), "fetchedAt": .integer(fetchedAt)]
        }

        /// As `getSettings` gives it.
        package var shown: JSONObject {
            var json = settings.json
            json["revision"] = revision.map(JSONValue.integer)
            return json
        }
    }

    package func entry(of desktop: PeerID) throws(StoreError) -> Entry? {
        let stored = try connection.first(
            "SELECT settings, revision, fetched_at FROM desktop_settings WHERE desktop = ?", [.text(desktop.text)]
        ) { (row) throws(StoreError) in (try row.text(0), try row.optionalInteger(1), try row.integer(2)) }
        guard let stored, let object = (try? JSONValue(parsing: stored.0))?.object,
            let settings = try? Settings(decoding: object)
        else { return nil }
        return Entry(settings: settings, revision: stored.1, fetchedAt: stored.2)
    }

    /// Stores a desktop's settings. Returns whether anything changed.
    ///
    /// - Parameter isEvent: the desktop sent them unasked. Then an older revision than the stored one is ignored.
    package func keep(
        _ settings: Settings, revision: Int64?, of desktop: PeerID, at moment: EpochMilliseconds, isEvent: Bool
    ) throws(StoreError) -> Bool {
        let known = try entry(of: desktop)
        if isEvent, let revision, let had = known?.revision, revision < had { return false }
        try connection.execute(
            """
            INSERT INTO desktop_settings(desktop, settings, revision, fetched_at) VALUES (?, ?, ?, ?)
            ON CONFLICT(desktop) DO UPDATE SET settings = excluded.settings, revision = excluded.revision,
                fetched_at = excluded.fetched_at
            """,
            [
                .text(desktop.text), .text(JSONValue.object(settings.json).serialized()), .optional(revision),
                .integer(moment),
            ])
        return known?.settings != settings || known?.revision != revision
    }

    /// The desktop has another key: its settings go on under that id (WireRekey, "Switch").
    package func move(_ old: PeerID, to new: PeerID) throws(StoreError) {
        try connection.execute(
            "UPDATE OR REPLACE desktop_settings SET desktop = ? WHERE desktop = ?", [.text(new.text), .text(old.text)])
    }

    /// The desktop was unpaired.
    func forget(_ desktop: PeerID) throws(StoreError) {
        try connection.execute("DELETE FROM desktop_settings WHERE desktop = ?", [.text(desktop.text)])
    }
}
