import CSQLite

/// A prepared statement: bind, step, read.
///
/// Belongs to its ``Connection`` and to the store's thread.
final class Statement {
    private let handle: OpaquePointer
    private let sql: String
    /// Under a step of its own; a second use of the same SQL needs another statement.
    var isRunning = false
    /// It writes to a table that is observed.
    var isTouching = false

    /// Prepares the one statement in `sql`.
    init(_ sql: String, on database: OpaquePointer) throws(StoreError) {
        var handle: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        let result = sqlite3_prepare_v3(database, sql, -1, flags, &handle, nil)
        guard result == SQLITE_OK, let handle else {
            let error = StoreError(result: result == SQLITE_OK ? SQLITE_MISUSE : result, sql: sql)
            // The text of a failed preparation names tables and columns of ours, which is what one wants to read.
            let detail = String(cString: sqlite3_errmsg(database))
            throw StoreError(error.code, "\(error.message): \(detail)", extendedResult: error.extendedResult)
        }
        self.handle = handle
        self.sql = sql
    }

    deinit { sqlite3_finalize(handle) }

    func bind(_ values: [Value]) throws(StoreError) {
        guard values.count == Int(sqlite3_bind_parameter_count(handle)) else {
            throw StoreError(result: SQLITE_RANGE, sql: sql)
        }
        var index: Int32 = 0
        for value in values {
            index += 1
            let result =
                switch value {
                case .null: sqlite3_bind_null(handle, index)
                case .integer(let integer): sqlite3_bind_int64(handle, index, integer)
                case .real(let real): sqlite3_bind_double(handle, index, real)
                case .text(let text): bind(text, at: index)
                case .blob(let bytes):
                    bytes.withUnsafeBytes { buffer in
                        sqlite3_bind_blob64(
                            handle, index, buffer.baseAddress ?? emptyBlob, UInt64(buffer.count), copied)
                    }
                }
            guard result == SQLITE_OK else { throw StoreError(result: result, sql: sql) }
        }
    }

    private func bind(_ text: String, at index: Int32) -> Int32 {
        var text = text
        return text.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { bytes in
                let length = UInt64(bytes.count)
                let encoding = UInt8(SQLITE_UTF8)
                guard let base = bytes.baseAddress else {
                    return sqlite3_bind_text64(handle, index, "", 0, copied, encoding)
                }
                return sqlite3_bind_text64(handle, index, base, length, copied, encoding)
            }
        }
    }

    /// True while there is a row.
    func step() throws(StoreError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let result: throw StoreError(result: result, sql: sql)
        }
    }

    /// Ready for the next use, with nothing bound: no value stays longer than it is needed.
    func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    /// The row under the last step.
    var row: Row { Row(handle) }
}

/// SQLite copies what is bound before the call returns (`SQLITE_TRANSIENT`, which C writes as a cast of -1).
nonisolated(unsafe) private let copied = unsafeBitCast(Int(-1), to: sqlite3_destructor_type.self)

/// An empty blob needs an address, else it would be NULL. It is never read.
nonisolated(unsafe) private let emptyBlob = UnsafeRawPointer(
    UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1))
