import CSQLite
import Glibc

/// A copy of a database at one moment, which other programs may use meanwhile: SQLite's online backup.
enum DatabaseCopy {
    /// - Returns: `false` if there is no such database.
    static func make(of source: String, at target: String) throws(Failure) -> Bool {
        var input: OpaquePointer?
        var output: OpaquePointer?
        defer {
            sqlite3_close(input)
            sqlite3_close(output)
        }
        let result = sqlite3_open_v2(source, &input, SQLITE_OPEN_READONLY, nil)
        if result == SQLITE_CANTOPEN, access(source, F_OK) != 0 { return false }
        guard result == SQLITE_OK else { throw Failure(cannot: "read", source, input) }
        // Programs that use the database hold it for moments only.
        sqlite3_busy_timeout(input, 10_000)
        guard sqlite3_open_v2(target, &output, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
            throw Failure(cannot: "write", target, output)
        }
        guard let backup = sqlite3_backup_init(output, "main", input, "main") else {
            throw Failure(cannot: "write", target, output)
        }
        // All in one step, which no writer can interrupt.
        let step = sqlite3_backup_step(backup, -1)
        sqlite3_backup_finish(backup)
        guard step == SQLITE_DONE else { throw Failure(cannot: "copy", source, output) }
        return true
    }

    /// Checks every page and index of a database.
    static func check(_ path: String) throws(Failure) {
        var database: OpaquePointer?
        var statement: OpaquePointer?
        defer {
            sqlite3_finalize(statement)
            sqlite3_close(database)
        }
        guard sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK,
            sqlite3_prepare_v2(database, "PRAGMA integrity_check(1)", -1, &statement, nil) == SQLITE_OK,
            sqlite3_step(statement) == SQLITE_ROW, let text = sqlite3_column_text(statement, 0)
        else { throw Failure(cannot: "check", path, database) }
        let verdict = String(cString: text)
        guard verdict == "ok" else { throw Failure(.failed, "\(path) is damaged: \(Printable.line(verdict))") }
    }
}

extension Failure {
    /// What SQLite says of a database.
    init(cannot verb: String, _ path: String, _ database: OpaquePointer?) {
        let reason = sqlite3_errmsg(database).map { String(cString: $0) } ?? "out of memory"
        self.init(.failed, "cannot \(verb) \(path): \(reason)")
    }
}
