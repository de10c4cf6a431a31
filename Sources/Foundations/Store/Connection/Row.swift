import CSQLite

/// One row of a result. Borrowed: it is good until the closure that got it returns.
///
/// Columns are counted from 0. Another type than asked for is an error, ``StoreError/Code/mismatch``: tables are STRICT,
/// so it means that the SQL and its reader disagree.
package struct Row: ~Copyable {
    private let handle: OpaquePointer

    init(_ handle: OpaquePointer) { self.handle = handle }

    package func text(_ column: Int32) throws(StoreError) -> String {
        try expect(SQLITE_TEXT, column)
        return String(decoding: bytes(sqlite3_column_text(handle, column), column), as: UTF8.self)
    }

    package func integer(_ column: Int32) throws(StoreError) -> Int64 {
        try expect(SQLITE_INTEGER, column)
        return sqlite3_column_int64(handle, column)
    }

    package func real(_ column: Int32) throws(StoreError) -> Double {
        try expect(SQLITE_FLOAT, column)
        return sqlite3_column_double(handle, column)
    }

    package func blob(_ column: Int32) throws(StoreError) -> [UInt8] {
        try expect(SQLITE_BLOB, column)
        return [UInt8](bytes(sqlite3_column_blob(handle, column), column))
    }

    package func flag(_ column: Int32) throws(StoreError) -> Bool { try integer(column) != 0 }

    package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    package func optionalText(_ column: Int32) throws(StoreError) -> String? {
        isNull(column) ? nil : try text(column)
    }

    package func optionalInteger(_ column: Int32) throws(StoreError) -> Int64? {
        isNull(column) ? nil : try integer(column)
    }

    package func optionalBlob(_ column: Int32) throws(StoreError) -> [UInt8]? {
        isNull(column) ? nil : try blob(column)
    }

    /// All columns, whatever their types.
    package var values: [Value] {
        (0..<sqlite3_data_count(handle)).map { column in
            switch sqlite3_column_type(handle, column) {
            case SQLITE_INTEGER: .integer(sqlite3_column_int64(handle, column))
            case SQLITE_FLOAT: .real(sqlite3_column_double(handle, column))
            case SQLITE_TEXT:
                .text(String(decoding: bytes(sqlite3_column_text(handle, column), column), as: UTF8.self))
            case SQLITE_BLOB: .blob([UInt8](bytes(sqlite3_column_blob(handle, column), column)))
            default: .null
            }
        }
    }

    private func expect(_ type: Int32, _ column: Int32) throws(StoreError) {
        guard column >= 0, column < sqlite3_data_count(handle) else {
            throw StoreError(.mismatch, "there is no column \(column) in this row")
        }
        guard sqlite3_column_type(handle, column) == type else {
            throw StoreError(.mismatch, "column \(column) has a different type than requested")
        }
    }

    /// `sqlite3_column_bytes` counts what the call before it returned.
    private func bytes(_ start: UnsafeRawPointer?, _ column: Int32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
    }

    private func bytes(_ start: UnsafePointer<UInt8>?, _ column: Int32) -> UnsafeRawBufferPointer {
        bytes(start.map(UnsafeRawPointer.init), column)
    }
}
