import Glibc

/// The file below a database, with the two that SQLite keeps beside it: opened, checked, and moved aside when damaged.
struct DatabaseFile {
    let path: String

    private var isInMemory: Bool { path == ":memory:" }
    /// Stands beside a file in which damage was met while it was open: the next opening checks all of it.
    private var suspectPath: String { path + ".suspect" }

    /// How much of a file an opening checks.
    private enum Check: String {
        case none
        /// That its pages can be read.
        case pages = "quick_check"
        /// Also that the indexes fit their tables. Otherwise SQLite finds a bad index only when a statement uses it.
        case all = "integrity_check"
    }

    /// Up to this size every opening checks all, which takes about 16 ms per megabyte.
    private static let fullyCheckedSize: Int64 = 4 << 20
    /// Up to this size every opening checks the pages, which takes about 3 ms per megabyte. Those of a larger file are
    /// checked when it was not closed cleanly.
    private static let checkedSize: Int64 = 16 << 20

    /// Takes the place of a damaged file once it is complete. A process that dies in between finds it again.
    private var repairedPath: String { path + ".repaired" }

    /// Gives the connection, at the newest schema, and what was done about a damaged file.
    ///
    /// - Parameters:
    ///   - tables: what is taken over from a damaged file, as far as it can be read.
    ///   - isDamaged: its content has turned out to be bad.
    func open(
        _ migrator: Migrator, salvaging tables: [String] = [], isDamaged: Bool = false
    ) throws(StoreError) -> (connection: Connection, damage: DatabaseDamage?) {
        if !isInMemory {
            if access(path, F_OK) != 0 { rename(repairedPath, path) }
            unlink(repairedPath)
        }
        do throws(StoreError) {
            guard !isDamaged else { throw StoreError(.corrupt, "the database's content is damaged") }
            return (try connect(migrator), nil)
        } catch {
            guard error.isDamage, !isInMemory else { throw error }
            var damage = DatabaseDamage(movedAside: asidePath())
            if !tables.isEmpty { try salvage(tables, migrator, &damage) }
            try moveAside(to: damage.movedAside)
            rename(repairedPath, path)
            return (try connect(migrator), damage)
        }
    }

    /// Makes the new file from what can be read of the damaged one, which is only read.
    private func salvage(
        _ tables: [String], _ migrator: Migrator, _ damage: inout DatabaseDamage
    ) throws(StoreError) {
        let file = DatabaseFile(path: path + ".repair")
        for suffix in ["", "-wal", "-shm"] { unlink(file.path + suffix) }
        try Salvage.copy(tables, from: path, to: file.connect(migrator), &damage)
        rename(file.path, repairedPath)
    }

    private func connect(_ migrator: Migrator) throws(StoreError) -> Connection {
        let check = try isInMemory ? Check.none : prepare()
        let connection = try Connection(path: path)
        connection.keepLog(true)
        try configure(connection)
        if check != .none {
            try verify(connection, by: check)
            unlink(suspectPath)
        }
        connection.keepLog(false)
        // Only now: a log that has a limit is cut when it is folded in, also that of a damaged file.
        if !isInMemory { try DiskRoom(path: path).boundLog(of: connection) }
        try migrator.migrate(connection)
        return connection
    }

    /// Creates a missing file with access for its owner only. Returns which check the file needs.
    private func prepare() throws(StoreError) -> Check {
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0o600)
        guard descriptor >= 0 else {
            throw StoreError(.cannotOpen, "cannot open the database: \(String(cString: strerror(errno)))")
        }
        defer { Glibc.close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.cannotOpen, "the database is not a regular file")
        }
        let size = Int64(status.st_size)
        if !isBeingCreated { try checkHeader(descriptor, size: size) }
        guard size > 0 else { return .none }
        if size <= DatabaseFile.fullyCheckedSize || access(suspectPath, F_OK) == 0 { return .all }
        return size <= DatabaseFile.checkedSize || access(path + "-wal", F_OK) == 0 ? .pages : .none
    }

    /// Whether a new file's first page was being written when the power failed. SQLite keeps a journal beside the file until
    /// that page is on the disk, takes the rest of the page back with it, and has a log only from then on.
    private var isBeingCreated: Bool { access(path + "-journal", F_OK) == 0 && access(path + "-wal", F_OK) != 0 }

    /// SQLite would take a file of one byte for an empty one, and throw the log of a file away whose header it cannot read.
    private func checkHeader(_ descriptor: Int32, size: Int64) throws(StoreError) {
        guard size > 0 else { return }
        let magic = Array("SQLite format 3\0".utf8)
        var header = [UInt8](repeating: 0, count: magic.count)
        let count = pread(descriptor, &header, header.count, 0)
        guard count >= 0 else {
            throw StoreError(.ioError, "cannot read the database: \(String(cString: strerror(errno)))")
        }
        guard header == magic else { throw StoreError(.notADatabase, "the file is not a database") }
    }

    private func configure(_ connection: Connection) throws(StoreError) {
        // The first statement that reads the file; it also says whether this is a database at all.
        _ = try connection.integer("PRAGMA schema_version")
        try connection.executeScript(
            "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY")
        guard !isInMemory else { return }
        guard !connection.isReadOnly else {
            throw StoreError(.readOnly, "the database is read-only")
        }
        try connection.executeScript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
    }

    private func verify(_ connection: Connection, by check: Check) throws(StoreError) {
        let verdict = try connection.first("PRAGMA \(check.rawValue)(1)") { (row) throws(StoreError) in
            try row.text(0)
        }
        guard verdict == "ok" else { throw StoreError(.corrupt, "the database is damaged") }
    }

    /// Best effort: the file system may be what is broken.
    func markSuspect() {
        guard !isInMemory else { return }
        let descriptor = Glibc.open(suspectPath, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    /// The log goes first: without its log the file stays damaged, but a log without its file would be thrown away.
    private func moveAside(to aside: String) throws(StoreError) {
        for suffix in ["-wal", "-shm", ""] {
            guard rename(path + suffix, aside + suffix) == 0 || (errno == ENOENT && !suffix.isEmpty) else {
                let reason = String(cString: strerror(errno))
                throw StoreError(.moveAside, "could not move the damaged database aside: \(reason)")
            }
        }
        unlink(suspectPath)
    }

    private func asidePath() -> String {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        var moment = Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000
        var aside = "\(path).damaged-\(moment)"
        while access(aside, F_OK) == 0 || access(aside + "-wal", F_OK) == 0 {
            moment &+= 1
            aside = "\(path).damaged-\(moment)"
        }
        return aside
    }
}
