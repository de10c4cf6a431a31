import Identity
import JSON
package import Store

/// A second copy of a role's pairings, in a small file beside the key, for when the database is damaged, is gone, or
/// has lost its last transactions.
///
/// The file is one line with the SHA-256 of the rest, then JSON. A counter in it and in the database, increased by each
/// transaction that changes a pairing, says which of the two is ahead. If neither is, the copy counts, because it has a
/// checksum. A copy never gives back what was taken away:
///
/// 1. Before the commit, the file gets what the old and the new state have in common
///    (``CopiedTable/common(_:_:)``), marked as not final. If that can't be written, the transaction fails.
/// 2. The database commits.
/// 3. Before anyone hears of the commit, the file gets the new state.
///
/// After a crash between 1 and 3 the database counts, and the file is written anew at the next opening. A pure addition
/// has no step 1.
///
/// On the opener's thread, then on the store's.
package final class PairingCopy: CommitObserver, @unchecked Sendable {
    package enum Outcome: String, Sendable {
        /// The database has what the pairings need.
        case kept
        /// They were taken from the copy.
        case restored
        /// The database is new, and there is no copy that can be used.
        case lost
    }

    package static let migrations = [
        Migration(
            "pairings.copy.1",
            sql: """
                CREATE TABLE pairing_copy (
                    only INTEGER PRIMARY KEY CHECK (only = 1),
                    -- Counts the transactions that have changed a pairing.
                    generation INTEGER NOT NULL,
                    -- When pairings were lost; NULL = never.
                    lost_at INTEGER
                ) STRICT;
                """)
    ]
    /// Ten thousand devices take 6 MB.
    private static let maximumBytes = 64 << 20

    /// What the file says: `{"generation","final","tables":{name: {"columns","rows"}}}`.
    private typealias File = JSONObject

    private(set) var outcome = Outcome.kept
    /// Epoch milliseconds; `nil` = never.
    private(set) var lostAt: Int64?
    package private(set) var isBehind = false
    private let path: String
    private let copied: [CopiedTable]
    private let settling: String
    private let now: Int64
    /// What was committed last.
    private var state: File?
    /// What is about to be committed.
    private var next: File?

    /// - Parameter settling: SQL that makes the other tables fit, after pairings were restored or lost.
    init(_ path: String, of tables: [CopiedTable], settling: String, now: Int64) {
        (self.path, self.settling, self.now) = (path, settling, now)
        copied = CopiedTable.ofSeal + tables
    }

    package func opened(_ connection: Connection, damage: DatabaseDamage?) throws(StoreError) {
        let bytes: [UInt8]?
        do throws(IdentityError) { bytes = try FileBytes.contents(of: path, limit: Self.maximumBytes) } catch {
            throw StoreError(.ioError, "the copy of the pairings: \(error.message)")
        }
        let file = bytes.flatMap(read)
        var known: Int64 = 0
        _ = try connection.query("SELECT generation, lost_at FROM pairing_copy") { (row) throws(StoreError) in
            (known, lostAt) = (try row.integer(0), try row.optionalInteger(1))
        }
        var state = try current(known, connection)
        if var file, counts(file, at: known) {
            file["final"] = true
            if state["tables"] != file["tables"] { outcome = .restored }
            state = file
        } else if known == 0 {
            if damage != nil || bytes != nil { (outcome, lostAt) = (.lost, now) }
            state["generation"] = 1
        }
        if outcome != .kept || state["generation"]?.integer != known { try begin(state, connection) }
        self.state = state
        if file != state { write(state) }
    }

    /// Whether the file counts, and not a database at this generation: it knows of later transactions, or of the same.
    private func counts(_ file: File, at known: Int64) -> Bool {
        guard let generation = file["generation"]?.integer, generation >= known else { return false }
        return file["final"] == true || known == 0 || generation > known &+ 1
    }

    private func begin(_ state: File, _ connection: Connection) throws(StoreError) {
        try connection.executeScript("BEGIN IMMEDIATE")
        do throws(StoreError) {
            if outcome == .restored {
                for table in copied { try table.write(rows(of: table, in: state), to: connection) }
            }
            if outcome != .kept { try connection.executeScript(settling) }
            try connection.execute(
                "INSERT OR REPLACE INTO pairing_copy (only, generation, lost_at) VALUES (1, ?, ?)",
                [.integer(state["generation"]?.integer ?? 1), .optional(lostAt)])
            try connection.executeScript("COMMIT")
        } catch {
            _ = try? connection.executeScript("ROLLBACK")
            throw error
        }
    }

    package func follows(_ table: String, column: String?) -> Bool {
        copied.contains { $0.name == table && $0.copies(column) }
    }

    package func willCommit(_ connection: Connection) throws(StoreError) {
        guard let state, let generation = state["generation"]?.integer else { return }
        var new = try current(generation, connection)
        guard new != state else { return }
        new["generation"] = .integer(generation &+ 1)
        try connection.execute("UPDATE pairing_copy SET generation = ?", [.integer(generation &+ 1)])
        next = new
        var common = new
        var tables = new["tables"]?.object ?? [:]
        for table in copied {
            tables[table.name] = content(of: table, table.common(rows(of: table, in: state), rows(of: table, in: new)))
        }
        common["tables"] = .object(tables)
        guard common["tables"] != state["tables"] else { return }
        common["final"] = false
        isBehind = true
        do throws(IdentityError) { try save(common) } catch {
            throw StoreError(.ioError, "the copy of the pairings: \(error.message)")
        }
    }

    package func ended(committed: Bool) {
        if committed, let next { state = next }
        if next != nil || (committed && isBehind), let state { write(state) }
        next = nil
    }

    private func write(_ file: File) {
        isBehind = true
        // Else the next commit tries again, and the next opening.
        do throws(IdentityError) {
            try save(file)
            isBehind = false
        } catch {}
    }

    // MARK: The file

    private func current(_ generation: Int64, _ connection: Connection) throws(StoreError) -> File {
        var tables: JSONObject = [:]
        for table in copied { tables[table.name] = content(of: table, try table.rows(in: connection)) }
        return ["generation": .integer(generation), "final": true, "tables": .object(tables)]
    }

    private func content(of table: CopiedTable, _ rows: [JSONValue]) -> JSONValue {
        ["columns": .string(table.columns), "rows": .array(rows)]
    }

    private func rows(of table: CopiedTable, in file: File) -> [JSONValue] {
        file["tables"]?[table.name]?["rows"]?.array ?? []
    }

    private func save(_ file: File) throws(IdentityError) {
        let json = JSONValue.object(file).serializedBytes()
        try FileBytes.replace(path, by: Array((ContentHash.hex([json]) + "\n").utf8) + json)
    }

    /// `nil` = damaged, or of another version.
    private func read(_ bytes: [UInt8]) -> File? {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let body = Array(bytes[(end + 1)...])
        guard bytes[..<end].elementsEqual(ContentHash.hex([body]).utf8), let json = try? JSONValue(parsing: body),
            copied.allSatisfy({ json["tables"]?[$0.name]?["columns"] == .string($0.columns) })
        else { return nil }
        return json.object
    }
}
