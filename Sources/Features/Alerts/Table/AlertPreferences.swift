import JSON
package import Store

/// The stored authorization, settings and categories.
///
/// Made for one piece of work on the store, over its connection; its table is among ``AlertTable/migrations``. What
/// cannot be read has its default.
package struct AlertPreferences {
    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    package func authorization() throws(StoreError) -> Authorization {
        Authorization(stored: try value("authorization")?.object ?? [:])
    }

    package func settings() throws(StoreError) -> AlertSettings {
        AlertSettings(stored: try value("settings")?.object ?? [:])
    }

    /// Those of the last run, until the program registers its categories again, because a tap may come earlier.
    package func categories() throws(StoreError) -> Categories {
        try value("categories").map(Categories.init(stored:)) ?? Categories()
    }

    package func save(_ authorization: Authorization) throws(StoreError) {
        try keep(.object(authorization.stored), "authorization")
    }

    package func save(_ settings: AlertSettings) throws(StoreError) {
        try keep(.object(settings.json), "settings")
    }

    package func save(_ categories: Categories) throws(StoreError) { try keep(categories.json, "categories") }

    private func value(_ name: String) throws(StoreError) -> JSONValue? {
        let text = try connection.first(
            "SELECT value FROM alert_preference WHERE name = ?", [.text(name)]
        ) { (row) throws(StoreError) in try row.text(0) }
        return text.flatMap { try? JSONValue(parsing: $0) }
    }

    private func keep(_ value: JSONValue, _ name: String) throws(StoreError) {
        try connection.execute(
            """
            INSERT INTO alert_preference(name, value) VALUES (?, ?)
            ON CONFLICT(name) DO UPDATE SET value = excluded.value
            """, [.text(name), .text(value.serialized())])
    }
}
