import CSQLite

/// An open database file, for the one who does a piece of work on it.
///
/// Belongs to the store's thread; a piece of work gets it for the call, and never keeps it. Values are always bound:
/// `connection.execute("DELETE FROM row WHERE id = ?", [.text(id)])`. Statements are prepared once for each SQL text, so
/// the texts are constants.
package final class Connection {
    let handle: OpaquePointer
    private var statements: [StatementText: Statement] = [:]
    /// Set while a piece of work runs. When SQLite has ended its transaction, nothing more may be written: it would be
    /// there by itself.
    var isWorking = false
    /// As ``DatabaseFile`` sets it.
    private var isSynchronized = true
    private var observer: (any CommitObserver)?
    /// The transaction has changed what is observed.
    private var isTouched = false
    /// Set by SQLite while it prepares a statement that would.
    private var isTouching = false

    /// Texts that differ from use to use would fill the cache; beyond this many it begins anew.
    private static let statementLimit = 256

    /// Opens or creates the file. Nothing is read yet.
    init(path: String, isReadOnly: Bool = false) throws(StoreError) {
        var handle: OpaquePointer?
        let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        // NOMUTEX: one thread at a time is ours to keep.
        let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let result = sqlite3_open_v2(path, &handle, flags, nil)
        guard result == SQLITE_OK, let handle else {
            sqlite3_close(handle)
            throw StoreError(result: result == SQLITE_OK ? SQLITE_NOMEM : result)
        }
        self.handle = handle
        sqlite3_busy_timeout(handle, 2_000)
        // Without it, SQLite prepares a statement again on every use if a bound value could change its plan: each
        // "arrival > ?" next to a partial index "WHERE arrival > 0" costs 30 to 80 us.
        bw_sqlite3_keep_query_plans(handle)
    }

    deinit {
        statements.removeAll()
        sqlite3_close_v2(handle)
    }

    /// Runs one statement to its end. Gives the number of rows that it changed itself, triggers not counted.
    @discardableResult
    package func execute(_ sql: String, _ values: [Value] = []) throws(StoreError) -> Int {
        let before = sqlite3_total_changes64(handle)
        try withStatement(sql, values) { (statement) throws(StoreError) in
            while try statement.step() {}
        }
        // Without this a statement that changes nothing would tell of the one before it.
        return sqlite3_total_changes64(handle) == before ? 0 : Int(sqlite3_changes64(handle))
    }

    /// All rows, each read by `read`.
    package func query<T>(
        _ sql: String, _ values: [Value] = [], _ read: (borrowing Row) throws(StoreError) -> T
    ) throws(StoreError) -> [T] {
        var rows: [T] = []
        try withStatement(sql, values) { (statement) throws(StoreError) in
            while try statement.step() { rows.append(try read(statement.row)) }
        }
        return rows
    }

    /// The rows before the first one for which `read` returns `nil`.
    package func prefix<T>(
        _ sql: String, _ values: [Value] = [], _ read: (borrowing Row) throws(StoreError) -> T?
    ) throws(StoreError) -> [T] {
        var rows: [T] = []
        try withStatement(sql, values) { (statement) throws(StoreError) in
            while try statement.step(), let row = try read(statement.row) { rows.append(row) }
        }
        return rows
    }

    /// The first row, or `nil` if there is none.
    package func first<T>(
        _ sql: String, _ values: [Value] = [], _ read: (borrowing Row) throws(StoreError) -> T
    ) throws(StoreError) -> T? {
        var row: T?
        try withStatement(sql, values) { (statement) throws(StoreError) in
            if try statement.step() { row = try read(statement.row) }
        }
        return row
    }

    /// The number that a query always returns, such as a count.
    package func integer(_ sql: String, _ values: [Value] = []) throws(StoreError) -> Int64 {
        let number = try first(sql, values) { (row) throws(StoreError) in try row.integer(0) }
        guard let number else { throw StoreError(.mismatch, "a query that always returns a row returned none") }
        return number
    }

    /// The row id of the last insert that succeeded.
    package var lastInsertRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Runs several statements that take no values, such as a schema.
    package func executeScript(_ sql: String) throws(StoreError) {
        try checkTransaction(sql)
        isTouching = false
        let result = sqlite3_exec(handle, sql, nil, nil, nil)
        if isTouching { isTouched = true }
        guard result == SQLITE_OK else {
            let detail = String(cString: sqlite3_errmsg(handle))
            let error = StoreError(result: result)
            throw StoreError(error.code, "\(error.message): \(detail)", extendedResult: result)
        }
    }

    /// False when SQLite has ended the transaction by itself, which it does when a disk is full.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Whether the next commits are synchronized to the disk. Outside of a transaction.
    func synchronize(_ synchronizes: Bool) throws(StoreError) {
        guard synchronizes != isSynchronized else { return }
        // Of a log, "NORMAL" synchronizes only what a checkpoint needs.
        try executeScript(synchronizes ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL")
        isSynchronized = synchronizes
    }

    /// Copies the log into the file and cuts it to nothing. Outside of a transaction. Gives whether there was something.
    func foldLog() -> Bool {
        var pages: Int32 = 0
        let result = sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_PASSIVE, &pages, nil)
        guard result == SQLITE_OK, pages > 0 else { return false }
        return sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil) == SQLITE_OK
    }

    /// Whether closing leaves the log where it is. Else SQLite deletes it, also beside a file that it could not read.
    func keepLog(_ keep: Bool) {
        var flag: Int32 = keep ? 1 : 0
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &flag)
    }

    var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

    private func checkTransaction(_ sql: String) throws(StoreError) {
        guard !isWorking || isInTransaction else { throw StoreError(result: SQLITE_ABORT, sql: sql) }
    }

    private func withStatement(
        _ sql: String, _ values: [Value], _ use: (Statement) throws(StoreError) -> Void
    ) throws(StoreError) {
        try checkTransaction(sql)
        let statement = try statement(sql)
        statement.isRunning = true
        let before = sqlite3_total_changes64(handle)
        var hasFailed = true
        defer {
            statement.reset()
            statement.isRunning = false
            if statement.isTouching && (hasFailed || sqlite3_total_changes64(handle) != before) { isTouched = true }
        }
        try statement.bind(values)
        try use(statement)
        hasFailed = false
    }

    private func statement(_ sql: String) throws(StoreError) -> Statement {
        let text = StatementText(sql: sql)
        if let cached = statements[text] {
            // The same SQL inside its own loop: the inner one is not kept.
            return cached.isRunning ? try prepare(sql) : cached
        }
        let statement = try prepare(sql)
        if statements.count >= Connection.statementLimit {
            statements = statements.filter { $0.value.isRunning }
        }
        statements[text] = statement
        return statement
    }

    private func prepare(_ sql: String) throws(StoreError) -> Statement {
        isTouching = false
        let statement = try Statement(sql, on: handle)
        statement.isTouching = isTouching
        return statement
    }
}

// What an observer hears.
extension Connection {
    /// From now on.
    func observe(_ observer: any CommitObserver) {
        self.observer = observer
        sqlite3_set_authorizer(
            handle,
            { context, action, table, column, _, _ in
                if action == SQLITE_INSERT || action == SQLITE_UPDATE || action == SQLITE_DELETE, let context, let table
                {
                    // SQLite names a column for an UPDATE alone.
                    Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
                        .writes(to: String(cString: table), column: column.map { String(cString: $0) })
                }
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func writes(to table: String, column: String?) {
        if observer?.follows(table, column: column) == true { isTouching = true }
    }

    func commit() throws(StoreError) {
        if observer?.isBehind == true { isTouched = true }
        if isTouched { try observer?.willCommit(self) }
        FailPoint.beforeCommit.reach()
        try execute("COMMIT")
        FailPoint.afterCommit.reach()
        ended(committed: true)
    }

    /// SQLite rolls back by itself on some errors; then nothing is left to do.
    func rollBack() {
        if isInTransaction { _ = try? execute("ROLLBACK") }
        ended(committed: false)
    }

    private func ended(committed: Bool) {
        guard isTouched else { return }
        isTouched = false
        observer?.ended(committed: committed)
    }
}

/// The key of a prepared statement. It hashes the length alone: hashing a whole text costs more than finding a statement
/// among the few of one length, and two strings that share their storage are equal without being read.
private struct StatementText: Hashable {
    let sql: String

    func hash(into hasher: inout Hasher) { hasher.combine(sql.utf8.count) }
}
