import Foundation
import Sealing
import Store
import Testing

@testable import Desktop
@testable import Device

/// A new database is made by one script, an older one by migrations: both end alike.
@Suite struct NewestSchemaTests {
    @Test("what a new database begins with is what all migrations make", arguments: ["Device", "Desktop"])
    func equal(role: String) throws {
        let migrations = role == "Device" ? DeviceSwitchboard.migrations : DesktopSwitchboard.migrations
        let newest = role == "Device" ? DeviceSchema.newest : DesktopSchema.newest
        let all = SealStates.migrations + migrations
        let expected = try script(of: Database.open(path: ":memory:", migrations: all).database)
        if ProcessInfo.processInfo.environment["BELLWIRE_WRITE_SCHEMA"] != nil { try write(expected, role) }
        let database = try Database.open(path: ":memory:", migrations: all, newest: newest).database
        #expect(
            try script(of: database) == expected,
            "BELLWIRE_WRITE_SCHEMA=1 swift test --filter NewestSchemaTests writes Sources/Roles/\(role)/\(role)Schema.swift again"
        )
        let names = try database.run { connection throws(StoreError) in
            try connection.query("SELECT name FROM migration ORDER BY ordinal") { row throws(StoreError) in
                try row.text(0)
            }
        }
        #expect(names == all.map(\.name))
    }

    /// What makes the same tables, indexes, triggers and rows, in the order in which they were made. Without the record
    /// of migrations, and without what SQLite makes itself.
    private func script(of database: Database) throws -> String {
        try database.run { connection throws(StoreError) in
            let made = try connection.query(
                """
                SELECT sql FROM sqlite_schema
                WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%' AND name <> 'migration'
                    AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')
                ORDER BY rowid
                """
            ) { row throws(StoreError) in try row.text(0) + ";" }
            let tables = try connection.query(
                """
                SELECT name FROM pragma_table_list
                WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'migration' ORDER BY name
                """
            ) { row throws(StoreError) in try row.text(0) }
            var rows: [String] = []
            for table in tables {
                let columns = try connection.query("SELECT name FROM pragma_table_info(?)", [.text(table)]) {
                    row throws(StoreError) in try row.text(0)
                }
                let cells = columns.map { "quote(\($0))" }.joined(separator: " || ', ' || ")
                rows += try connection.query("SELECT \(cells) FROM \(table)") { row throws(StoreError) in
                    "INSERT INTO \(table) VALUES (\(try row.text(0)));"
                }
            }
            return (made + rows).joined(separator: "\n")
        }
    }

    private func write(_ script: String, _ role: String) throws {
        let root = URL(filePath: #filePath.components(separatedBy: "/Tests/")[0])
        let file = root.appending(path: "Sources/Roles/\(role)/\(role)Schema.swift")
        let source = try String(contentsOf: file, encoding: .utf8)
        let head = try #require(source.range(of: "static let newest = \"\"\"\n")).upperBound
        let lines = script.split(separator: "\n", omittingEmptySubsequences: false).map {
            $0.isEmpty ? "" : "        \($0)"
        }
        try (source[..<head] + lines.joined(separator: "\n") + "\n        \"\"\"\n}\n")
            .write(to: file, atomically: true, encoding: .utf8)
    }
}
