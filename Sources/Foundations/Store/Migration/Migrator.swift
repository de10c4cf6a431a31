/// Brings a file to the schema that this version knows: all missing steps in one transaction.
struct Migrator {
    let migrations: [Migration]
    /// SQL that makes in an empty file what all steps make there, in a quarter of the time.
    let newest: String?

    /// Fails with ``StoreError/Code/newerSchema`` for a file that knows a step which we do not: its meaning is unknown. A
    /// newer file knows all of ours, too; one that does not is ``StoreError/Code/otherSchema``.
    func migrate(_ connection: Connection) throws(StoreError) {
        try connection.executeScript("BEGIN IMMEDIATE")
        do throws(StoreError) {
            try run(connection)
            try connection.executeScript("COMMIT")
        } catch {
            if connection.isInTransaction { _ = try? connection.execute("ROLLBACK") }
            throw error
        }
    }

    private func run(_ connection: Connection) throws(StoreError) {
        let isNew = try connection.integer("SELECT count(*) FROM sqlite_schema") == 0
        try connection.executeScript(
            """
            CREATE TABLE IF NOT EXISTS migration (
                ordinal INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE
            ) STRICT
            """)
        let recorded = Set(
            try connection.query("SELECT name FROM migration") { (row) throws(StoreError) in try row.text(0) })
        let known = Set(migrations.lazy.map { $0.name })
        if let unknown = recorded.subtracting(known).min() {
            guard known.isSubset(of: recorded) else {
                throw StoreError(
                    .otherSchema, "the file is another database of Bellwire's (\(unknown)); put the right one there"
                )
            }
            throw StoreError(
                .newerSchema, "the database was written by a newer version of this library; use that version to open it"
            )
        }
        if isNew, let newest {
            try connection.executeScript(newest)
            for migration in migrations { try record(migration, connection) }
            return
        }
        for migration in migrations where !recorded.contains(migration.name) {
            try migration.body(connection)
            try record(migration, connection)
        }
    }

    private func record(_ migration: Migration, _ connection: Connection) throws(StoreError) {
        try connection.execute("INSERT INTO migration(name) VALUES (?)", [.text(migration.name)])
    }
}
