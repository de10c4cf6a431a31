import CSQLite

/// The reason why a store operation failed. It carries names of SQL and of results, never a bound value.
package struct StoreError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure: SQLite's own result names (`SQLITE_FULL`), and ours. More may be added.
    package struct Code: Sendable, Hashable {
        package let name: String

        package init(_ name: String) { self.name = name }

        /// The database was closed before the work could be done.
        package static let closed = Code("closed")
        /// More work waits than the database takes.
        package static let queueFull = Code("queue_full")
        /// A newer version of the library has written this file.
        package static let newerSchema = Code("newer_schema")
        /// A column has a different type than requested.
        package static let mismatch = Code("mismatch")
        /// A blocking call on the store's own thread.
        package static let wrongThread = Code("wrong_thread")
        /// A thread could not be started.
        package static let thread = Code("thread")
        /// A damaged file could not be moved aside.
        package static let moveAside = Code("move_aside")

        package static let busy = Code("SQLITE_BUSY")
        package static let full = Code("SQLITE_FULL")
        package static let corrupt = Code("SQLITE_CORRUPT")
        package static let notADatabase = Code("SQLITE_NOTADB")
        package static let readOnly = Code("SQLITE_READONLY")
        package static let constraint = Code("SQLITE_CONSTRAINT")
        package static let ioError = Code("SQLITE_IOERR")
        package static let cannotOpen = Code("SQLITE_CANTOPEN")
    }

    package let code: Code
    /// For people, in English.
    package let message: String
    /// SQLite's extended result, 0 for errors that are not SQLite's.
    package let extendedResult: Int32

    package init(_ code: Code, _ message: String, extendedResult: Int32 = 0) {
        self.code = code
        self.message = message
        self.extendedResult = extendedResult
    }

    package var description: String { "\(message) (\(code.name))" }

    /// The file itself is bad, not the disk below it nor the statement.
    package var isDamage: Bool { code == .corrupt || code == .notADatabase }
}

extension StoreError {
    /// `sql` is a text of ours: parameters are bound, never written into it.
    init(result: Int32, sql: String? = nil) {
        let text = String(cString: sqlite3_errstr(result))
        let place = sql.map { " in \"\($0.prefix(80))\"" } ?? ""
        self.init(Code(StoreError.name(of: result)), text + place, extendedResult: result)
    }

    /// SQLite's name for the primary result within an extended one.
    private static func name(of result: Int32) -> String {
        switch result & 0xff {
        case SQLITE_ERROR: "SQLITE_ERROR"
        case SQLITE_INTERNAL: "SQLITE_INTERNAL"
        case SQLITE_PERM: "SQLITE_PERM"
        case SQLITE_ABORT: "SQLITE_ABORT"
        case SQLITE_BUSY: "SQLITE_BUSY"
        case SQLITE_LOCKED: "SQLITE_LOCKED"
        case SQLITE_NOMEM: "SQLITE_NOMEM"
        case SQLITE_READONLY: "SQLITE_READONLY"
        case SQLITE_INTERRUPT: "SQLITE_INTERRUPT"
        case SQLITE_IOERR: "SQLITE_IOERR"
        case SQLITE_CORRUPT: "SQLITE_CORRUPT"
        case SQLITE_NOTFOUND: "SQLITE_NOTFOUND"
        case SQLITE_FULL: "SQLITE_FULL"
        case SQLITE_CANTOPEN: "SQLITE_CANTOPEN"
        case SQLITE_PROTOCOL: "SQLITE_PROTOCOL"
        case SQLITE_SCHEMA: "SQLITE_SCHEMA"
        case SQLITE_TOOBIG: "SQLITE_TOOBIG"
        case SQLITE_CONSTRAINT: "SQLITE_CONSTRAINT"
        case SQLITE_MISMATCH: "SQLITE_MISMATCH"
        case SQLITE_MISUSE: "SQLITE_MISUSE"
        case SQLITE_NOLFS: "SQLITE_NOLFS"
        case SQLITE_RANGE: "SQLITE_RANGE"
        case SQLITE_NOTADB: "SQLITE_NOTADB"
        case let other: "SQLITE_\(other)"
        }
    }
}
