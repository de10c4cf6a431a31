import CSQLite
@_exported public import Errors

/// The reason why a store operation failed. It carries names of SQL and of results, never a bound value.
package typealias StoreError = CodedError<StoreErrorDomain>

package enum StoreErrorDomain: ErrorDomain {
    package typealias Facts = Int32
}

extension StoreError.Code {
    /// The database was closed before the work could be done.
    package static var closed: Self { Self("closed") }
    /// Too much work is queued.
    package static var queueFull: Self { Self("queue_full") }
    /// A newer version of the library has written this file.
    package static var newerSchema: Self { Self("newer_schema") }
    /// The file is in order, but has the tables of another database of the library.
    package static var otherSchema: Self { Self("other_schema") }
    /// A column has a different type than requested.
    package static var mismatch: Self { Self("mismatch") }
    /// A blocking call on the store's own thread.
    package static var wrongThread: Self { Self("wrong_thread") }
    /// A thread could not be started.
    package static var thread: Self { Self("thread") }
    /// A damaged file could not be moved aside.
    package static var moveAside: Self { Self("move_aside") }

    package static var busy: Self { Self("SQLITE_BUSY") }
    package static var full: Self { Self("SQLITE_FULL") }
    package static var corrupt: Self { Self("SQLITE_CORRUPT") }
    package static var notADatabase: Self { Self("SQLITE_NOTADB") }
    package static var readOnly: Self { Self("SQLITE_READONLY") }
    package static var constraint: Self { Self("SQLITE_CONSTRAINT") }
    package static var ioError: Self { Self("SQLITE_IOERR") }
    package static var cannotOpen: Self { Self("SQLITE_CANTOPEN") }
}

extension StoreError {
    package init(_ code: Code, _ message: String, extendedResult: Int32?) {
        self.init(code, message, facts: extendedResult)
    }

    /// SQLite's extended result; `nil` for errors that are not SQLite's.
    package var extendedResult: Int32? { facts }

    /// The file itself is bad, not the disk below it nor the statement.
    package var isDamage: Bool { code == .corrupt || code == .notADatabase }

    /// `sql` is a text of ours: parameters are bound, never written into it.
    init(result: Int32, sql: String? = nil) {
        let text = String(cString: sqlite3_errstr(result))
        let place = sql.map { " in \"\($0.prefix(80))\"" } ?? ""
        let name = StoreError.name(of: result)
        self.init(Code(name), "\(text) (\(name))\(place)", extendedResult: result)
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
