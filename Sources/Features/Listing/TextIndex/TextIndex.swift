package import Store

/// The full-text index over one table of notifications.
///
/// The table has the columns `row`, `title`, `body` and `search`, and `row` is `INTEGER PRIMARY KEY AUTOINCREMENT`. Beside
/// a table `t` there are
/// - `t_text`: the FTS5 index, with `t` as its external content;
/// - `t_indexed`: ranges of rows that are in the index, disjoint;
/// - `t_gone`: the indexed text of rows that have left `t`, or have another text now, and are still in the index.
///
/// ``TextIndexer`` works on it. One constant for each table: the SQL is the key under which statements are kept.
package struct TextIndex: Sendable {
    package let table: String
    let sql: SQL

    package init(_ table: String) {
        self.table = table
        sql = SQL(table)
    }

    /// SQL that is true when the row of this number is in the index.
    ///
    /// - Parameter row: an expression, such as `old.row`.
    package func contains(_ row: String) -> String {
        "ifnull((SELECT high FROM \(table)_indexed WHERE low <= \(row) ORDER BY low DESC LIMIT 1), 0) >= \(row)"
    }

    /// SQL that is true for matches in the index that are no longer the row's text.
    package var isGone: String { "\(table)_text.rowid IN (SELECT row FROM \(table)_gone)" }

    /// For migrations: from one watermark (`t_indexed(one, through)`) to ranges. Triggers that name the watermark have to
    /// be dropped before, and made anew with ``contains(_:)``.
    ///
    /// Also takes merging away from inserts: FTS5 would merge up to megabytes inside an unlucky one.
    package func adoptRanges(_ connection: Connection) throws(StoreError) {
        let through = try connection.integer("SELECT ifnull(max(through), 0) FROM \(table)_indexed")
        try connection.executeScript(
            """
            DROP TABLE \(table)_indexed;
            CREATE TABLE \(table)_indexed (low INTEGER PRIMARY KEY, high INTEGER NOT NULL) STRICT;
            INSERT INTO \(table)_text(\(table)_text, rank) VALUES ('automerge', 0);
            INSERT INTO \(table)_text(\(table)_text, rank) VALUES ('crisismerge', 1024);
            """)
        if through > 0 { try connection.execute(sql.addRange, [.integer(1), .integer(through)]) }
    }

    /// The statements, made once.
    struct SQL: Sendable {
        let newest: String
        let ranges: String
        let gap: String
        let insert: String
        let join: String
        let addRange: String
        let hasGone: String
        let removeGone: String
        let reindexGone: String
        let forgetGone: String
        let forgetRanges: String
        let forgetAll: String
        let merge: String
        let deleteOne: String

        init(_ table: String) {
            let text = "\(table)_text"
            let someGone = "(SELECT row FROM \(table)_gone ORDER BY row LIMIT ?)"
            newest = "SELECT ifnull(max(row), 0) FROM \(table)"
            ranges = "SELECT low, high FROM \(table)_indexed ORDER BY low DESC LIMIT 2"
            gap = """
                SELECT row, length(title) + length(body) + ifnull(length(search), 0) FROM \(table)
                WHERE row BETWEEN ? AND ? ORDER BY row DESC LIMIT ?
                """
            insert = """
                INSERT INTO \(text)(rowid, title, body, search)
                    SELECT row, title, body, search FROM \(table) WHERE row BETWEEN ? AND ? ORDER BY row
                """
            join = "DELETE FROM \(table)_indexed WHERE low BETWEEN ? AND ?"
            addRange = "INSERT INTO \(table)_indexed VALUES (?, ?)"
            hasGone = "SELECT EXISTS (SELECT 1 FROM \(table)_gone)"
            removeGone = """
                INSERT INTO \(text)(\(text), rowid, title, body, search)
                    SELECT 'delete', row, title, body, search FROM \(table)_gone ORDER BY row LIMIT ?
                """
            reindexGone = """
                INSERT INTO \(text)(rowid, title, body, search)
                    SELECT row, title, body, search FROM \(table) WHERE row IN \(someGone) ORDER BY row
                """
            forgetGone = "DELETE FROM \(table)_gone WHERE row IN \(someGone)"
            forgetRanges = "DELETE FROM \(table)_indexed"
            forgetAll = "DELETE FROM \(table)_gone"
            merge = "INSERT INTO \(text)(\(text), rank) VALUES ('merge', ?)"
            deleteOne = """
                INSERT INTO \(text)(\(text), rowid, title, body, search)
                    SELECT 'delete', row, title, body, search FROM \(table) WHERE row = ?
                """
        }
    }
}
