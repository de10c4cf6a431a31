/// Takes what can still be read out of a damaged file, table by table and row by row.
///
/// A page that can't be read ends a pass over a table, so a second pass comes from the table's other end. What a row
/// says is not checked beyond the new table's own constraints: tables that decide who may do what are not for this.
struct Salvage {
    let source: Connection
    let target: Connection

    /// Copies these tables in one transaction. Only errors of the new file are thrown.
    static func copy(
        _ tables: [String], from path: String, to target: Connection, _ damage: inout DatabaseDamage
    ) throws(StoreError) {
        guard let source = try? Connection(path: path, isReadOnly: true) else { return damage.incomplete = tables }
        // A schema that can't be read whole is used as far as it can.
        _ = try? source.executeScript("PRAGMA writable_schema = ON")
        let salvage = Salvage(source: source, target: target)
        try target.executeScript("BEGIN IMMEDIATE")
        do throws(StoreError) {
            for table in tables {
                if try !salvage.copy(table, &damage.salvaged) { damage.incomplete.append(table) }
            }
            try target.executeScript("COMMIT")
        } catch {
            if target.isInTransaction { _ = try? target.executeScript("ROLLBACK") }
            throw error
        }
    }

    /// Gives whether everything was read.
    private func copy(_ table: String, _ count: inout Int) throws(StoreError) -> Bool {
        let there = (try? columns(of: table, in: source)) ?? []
        let names = try columns(of: table, in: target).filter(there.contains)
        guard !names.isEmpty else { return false }
        let list = names.joined(separator: ", ")
        let marks = names.map { _ in "?" }.joined(separator: ", ")
        var failure: StoreError?
        var isWhole = true
        // In the order in which a table is stored: a sorter would have to read it whole. The last is for those without
        // row ids, whose first columns are their key.
        for order in ["", "ORDER BY rowid DESC", "ORDER BY 1 DESC, 2 DESC"] {
            do throws(StoreError) {
                _ = try source.query("SELECT \(list) FROM \(table) NOT INDEXED \(order)") { (row) throws(StoreError) in
                    do throws(StoreError) {
                        try target.execute("INSERT OR REPLACE INTO \(table) (\(list)) VALUES (\(marks))", row.values)
                    } catch {
                        isWhole = false
                        // A row that the table doesn't take is damaged.
                        guard error.code != .constraint else { return }
                        failure = error
                        throw error
                    }
                }
                break
            } catch {
                if let failure { throw failure }
                isWhole = false
            }
        }
        count += Int(try target.integer("SELECT count(*) FROM \(table)"))
        return isWhole
    }

    private func columns(of table: String, in connection: Connection) throws(StoreError) -> [String] {
        try connection.query("PRAGMA table_info(\(table))") { (row) throws(StoreError) in try row.text(1) }
    }
}
