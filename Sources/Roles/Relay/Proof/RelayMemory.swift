package import Hosting
internal import Store
internal import Synchronization
internal import Transport

/// The state that survives a relay's restart: the ids that were ever proved to it, on disk where it has a state
/// directory.
///
/// The relay decides on its own copy in memory. Only the peer that proves a new id waits for the disk.
package final class RelayMemory: Sendable {
    /// Path of a damaged database that was moved aside; a new one was created.
    let movedAside: String?
    /// How many proved ids the database lacked and the second copy had.
    let restored: Int64
    @EventLoop var proved: ProvedIDs
    package let directory: StateDirectory?
    private let database: Database?
    private let copy: ProvedCopy?

    /// Opens the state directory of the options, or a memory that ends with the process where they name none.
    ///
    /// The database and its second copy complete each other: an id that either of them has stays protected, also after
    /// the loss of a log or with an older file of a backup. A copy that cannot be read is an error, and changes nothing.
    ///
    /// Blocks while the file is checked: not for the loop. Errors: those of ``StateDirectory/open(_:)`` (`busy`, `io`),
    /// `io` (the second copy cannot be read), `store`.
    package static func open(_ options: RelayOptions) throws(HostError) -> RelayMemory {
        guard let path = options.stateDirectory else { return RelayMemory(options) }
        let directory = try StateDirectory.open(path)
        guard let file = directory.file("relay.db") else { return RelayMemory(options) }
        do throws(HostError) { return try open(file, directory, limit: options.names.maximumProvedIDs) } catch {
            directory.close()
            throw error
        }
    }

    private static func open(_ file: String, _ directory: StateDirectory, limit: Int) throws(HostError) -> RelayMemory {
        let copied = try ProvedCopy.contents(of: file + ".ids")
        do throws(StoreError) {
            let opened = try Database.open(path: file, migrations: [schema], salvaging: ["proved_id"])
            var names = try read(opened.database, limit: limit)
            let missing = ProvedCopy.names(in: copied, besides: Set(names.map { $0.name }))
            let restored = try restore(missing, opened.database)
            if restored > 0 { names = try read(opened.database, limit: limit) }
            return RelayMemory(
                ProvedIDs(limit: limit, names: names), directory, opened.database,
                try ProvedCopy(file + ".ids", of: names), movedAside: opened.movedAside, restored: restored)
        } catch { throw HostError(error) }
    }

    /// What opening found wrong, for the program and its log; `nil` = nothing.
    package var damage: String? {
        let ids = "\(restored) proved \(restored == 1 ? "id was" : "ids were") restored from the second copy"
        guard let movedAside else {
            return restored == 0 ? nil : "the relay's database was older than its second copy, or damaged; \(ids)"
        }
        return "the relay's database was damaged and was moved aside to \(movedAside); a new one was created. \(ids)"
    }

    private static func read(_ database: Database, limit: Int) throws(StoreError) -> [ProvedCopy.Name] {
        try database.run { connection throws(StoreError) in
            try connection.query(
                "SELECT id, proved_at FROM proved_id ORDER BY proved_at, id LIMIT ?", [.integer(Int64(limit))]
            ) { (row) throws(StoreError) in (name: Array(try row.text(0).utf8), since: try row.integer(1)) }
        }
    }

    /// Returns how many of them the database lacked: beyond the limit it may have some that were not read.
    private static func restore(_ names: [ProvedCopy.Name], _ database: Database) throws(StoreError) -> Int64 {
        guard !names.isEmpty else { return 0 }
        return try database.run { connection throws(StoreError) in
            let before = try count(connection)
            for (name, since) in names { try insert(name, since, connection) }
            return try count(connection) &- before
        }
    }

    private static func count(_ connection: Store.Connection) throws(StoreError) -> Int64 {
        try connection.query("SELECT count(*) FROM proved_id") { (row) throws(StoreError) in try row.integer(0) }.first
            ?? 0
    }

    private static func insert(_ name: [UInt8], _ since: Int64, _ connection: Store.Connection) throws(StoreError) {
        try connection.execute(
            "INSERT OR IGNORE INTO proved_id(id, proved_at) VALUES (?, ?)",
            [.text(String(decoding: name, as: UTF8.self)), .integer(since)])
    }

    /// In memory only.
    package convenience init(_ options: RelayOptions) {
        self.init(ProvedIDs(limit: options.names.maximumProvedIDs), nil, nil, nil, movedAside: nil, restored: 0)
    }

    private init(
        _ proved: ProvedIDs, _ directory: StateDirectory?, _ database: Database?, _ copy: ProvedCopy?,
        movedAside: String?, restored: Int64
    ) {
        self.proved = proved
        self.directory = directory
        self.database = database
        self.copy = copy
        self.movedAside = movedAside
        self.restored = restored
    }

    private static let schema = Migration(
        "relay.1",
        sql: """
            CREATE TABLE proved_id (
                id TEXT PRIMARY KEY, proved_at INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID
            """)

    /// Keeps an id for good. `then` is called when it is on disk, or with the reason why it can't be; without a disk at
    /// once. Ids that are proved at one time share a commit.
    @EventLoop
    func remember(_ name: [UInt8], at epoch: Int64, then: @escaping @Sendable @EventLoop (String?) -> Void) {
        guard let database else { return then(nil) }
        database.submit { (connection) throws(StoreError) in
            try Self.insert(name, epoch, connection)
        } then: { [copy] result in
            let reason: String? = if case .failure(let error) = result { error.description } else { nil }
            if reason == nil { copy?.add(name, since: epoch) }
            EventLoop.post { then(reason) }
        }
    }

    /// Closes the database behind everything that was to be kept, and lets the directory go.
    package func close(then: @escaping @Sendable () -> Void) {
        guard let database else { return then() }
        database.close { [directory, copy] in
            copy?.close()
            directory?.close()
            then()
        }
    }
}
