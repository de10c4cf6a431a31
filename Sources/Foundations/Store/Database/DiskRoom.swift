import Glibc

/// How much of its file system a database may use.
///
/// Deleting needs room as well: SQLite writes each page that it frees into the log once, overwritten. So on a small file
/// system the log is kept small, and the file leaves room for a log of its own size. Else a full disk would stay full.
package struct DiskRoom: Sendable {
    private let path: String
    /// What the file may grow to.
    private let maximumBytes: Int64

    package init(path: String, maximumBytes: Int64 = .max) { (self.path, self.maximumBytes) = (path, maximumBytes) }

    /// SQLite's usual one, in bytes.
    private static let pageSize: Int64 = 4_096
    /// Of a log, in pages of the store: SQLite's own limit, and on small file systems less.
    private static let logPages: ClosedRange<Int64> = 64...1_000
    /// A frame or an inbox row has at most one MiB, and a transaction may write all its pages.
    private static let largestJob: Int64 = 1_310_720

    private func fileSystem() -> (size: Int64, free: Int64)? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        let block = Int64(clamping: status.f_frsize)
        let size = Int64(clamping: status.f_blocks).multipliedReportingOverflow(by: block)
        let free = Int64(clamping: status.f_bavail).multipliedReportingOverflow(by: block)
        return (size.overflow ? .max : size.partialValue, free.overflow ? .max : free.partialValue)
    }

    private static func isSmall(_ size: Int64) -> Bool { size / 64 / pageSize < logPages.upperBound }

    /// Whether the file system is so small that a log of SQLite's usual size matters.
    private var isSmall: Bool { fileSystem().map { Self.isSmall($0.size) } ?? false }

    /// Whether ``boundFile(of:)`` has to be called before each transaction.
    var isLimited: Bool { isSmall || maximumBytes < .max }

    /// Whether a transaction that deletes many rows may not fit into the log.
    package var isTight: Bool { fileSystem().map { $0.free < 32 << 20 } ?? false }

    /// On a small file system a log is folded into the file sooner, and cut to that size if it was longer.
    func boundLog(of connection: Connection) throws(StoreError) {
        guard let size = fileSystem()?.size, Self.isSmall(size) else {
            return try connection.executeScript("PRAGMA journal_size_limit = 16777216")
        }
        let pageSize = max(512, try connection.integer("PRAGMA page_size"))
        let pages = max(size / 64 / pageSize, Self.logPages.lowerBound)
        try connection.executeScript(
            "PRAGMA wal_autocheckpoint = \(pages); PRAGMA journal_size_limit = \(pages * pageSize)")
    }

    /// Sets how many pages the file may have now.
    func boundFile(of connection: Connection) throws(StoreError) {
        let pageSize = max(512, try connection.integer("PRAGMA page_size"))
        let used = try connection.integer("PRAGMA page_count")
        var pages = maximumBytes / pageSize
        if let (size, free) = fileSystem() {
            let growth: Int64
            if Self.isSmall(size) {
                growth = (free / pageSize + logSize() / pageSize - used) / 2
            } else {
                growth = (free - 2 * Self.logPages.upperBound * pageSize - Self.largestJob) / pageSize
            }
            pages = min(pages, used + max(0, growth))
        }
        try connection.executeScript("PRAGMA max_page_count = \(max(16, pages))")
    }

    /// Of the log as it is, in bytes: it is written again from its beginning.
    private func logSize() -> Int64 {
        var status = stat()
        return stat(path + "-wal", &status) == 0 ? Int64(status.st_size) : 0
    }
}
