internal import Glibc
internal import Store

/// How much of its file system a relay's store may use: the file leaves room for its log, or nothing could be deleted any
/// more once the disk is full.
struct DiskRoom: Sendable {
    let path: String
    /// What the file may grow to.
    let maximumBytes: Int64

    /// Of a log, in pages of the store: SQLite's own limit, and on small file systems less.
    private static let logPages: ClosedRange<Int64> = 64...1_000
    /// A frame has at most one MiB, and a transaction may write all its pages.
    private static let largestJob: Int64 = 1_310_720

    private func fileSystem() -> (size: Int64, free: Int64)? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        let block = Int64(clamping: status.f_frsize)
        let size = Int64(clamping: status.f_blocks).multipliedReportingOverflow(by: block)
        let free = Int64(clamping: status.f_bavail).multipliedReportingOverflow(by: block)
        return (size.overflow ? .max : size.partialValue, free.overflow ? .max : free.partialValue)
    }

    /// Whether a transaction that deletes many frames may not fit into the log.
    var isTight: Bool { fileSystem().map { $0.free < 32 << 20 } ?? false }

    private func logLimit(_ pageSize: Int64) -> Int64 {
        let share = (fileSystem()?.size ?? .max) / 64 / pageSize
        return min(max(share, Self.logPages.lowerBound), Self.logPages.upperBound)
    }

    /// A log is folded into the file once it has so many pages, and cut to that size if it was longer.
    func boundLog(of connection: Connection) throws(StoreError) {
        let pageSize = max(512, try connection.integer("PRAGMA page_size"))
        let pages = logLimit(pageSize)
        try connection.executeScript(
            "PRAGMA wal_autocheckpoint = \(pages); PRAGMA journal_size_limit = \(pages * pageSize)")
    }

    /// Sets how many pages the file may have now.
    func boundFile(of connection: Connection) throws(StoreError) {
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
