import Glibc

/// How much of its file system a database may use. On a small one the log is small, and the file leaves room for it: else
/// the log would fill the disk, and nothing could be deleted any more.
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

    /// Whether the file system is so small that a log of SQLite's usual size matters.
    var isSmall: Bool { fileSystem().map { $0.size / 64 / Self.pageSize < Self.logPages.upperBound } ?? false }

    /// Whether a transaction that deletes many rows may not fit into the log.
    package var isTight: Bool { fileSystem().map { $0.free < 32 << 20 } ?? false }

    private func logLimit(_ pageSize: Int64) -> Int64 {
        let share = (fileSystem()?.size ?? .max) / 64 / pageSize
        return min(max(share, Self.logPages.lowerBound), Self.logPages.upperBound)
    }

    /// A log is folded into the file once it has so many pages, and cut to that size if it was longer.
    package func boundLog(of connection: Connection) throws(StoreError) {
        let pageSize = max(512, try connection.integer("PRAGMA page_size"))
        let pages = logLimit(pageSize)
        try connection.executeScript(
            "PRAGMA wal_autocheckpoint = \(pages); PRAGMA journal_size_limit = \(pages * pageSize)")
    }

    /// Sets how many pages the file may have now.
    package func boundFile(of connection: Connection) throws(StoreError) {
        let pageSize = max(512, try connection.integer("PRAGMA page_size"))
        let used = try connection.integer("PRAGMA page_count")
        var pages = maximumBytes / pageSize
        if let (size, free) = fileSystem() {
            let log = min(2 * logLimit(pageSize) * pageSize + Self.largestJob, size / 3)
            pages = min(pages, used + max(0, free - log) / pageSize)
        }
        try connection.executeScript("PRAGMA max_page_count = \(max(16, pages))")
    }
}
