import Synchronization

/// One SQLite file, worked on by the store's thread.
///
/// ```swift
/// database.submit { connection throws(StoreError) in
///     try connection.execute("INSERT INTO desktop(id) VALUES (?)", [.text(id)])
/// } then: { result in … }
/// ```
///
/// Work is done in the order in which it was submitted. What waits at one time is committed together, and an outcome is
/// handed over only after that commit. So a piece of work may run twice (see ``Batch``): it changes nothing but the
/// database, and leaves everything else to its `then`.
package final class Database: Sendable {
    /// What an opening gave.
    package struct Opened: Sendable {
        package let database: Database
        /// What was done about a damaged file. To be reported to the program.
        package let damage: DatabaseDamage?
        /// Path of a damaged file that was moved aside; a new one was created.
        package var movedAside: String? { damage?.movedAside }
    }

    private let core: DatabaseCore

    private init(_ core: DatabaseCore) { self.core = core }

    deinit { core.close {} }

    /// Opens a file, or a new store in memory with `":memory:"`, and brings it to the newest schema.
    ///
    /// A file that is damaged is moved aside, with its log, to `<path>.damaged-<epoch ms>`, and a new one is begun. A file
    /// of a newer version is an error, and stays as it is. Blocks the caller while the file is checked; not for the loop.
    ///
    /// - Parameters:
    ///   - newest: SQL that makes in an empty file what `migrations` make there, in less time; `nil` = they run.
    ///   - tables: what a new file takes over from a damaged one, as far as it can be read.
    ///   - isDamaged: the file can be read, but what it says has turned out to be damaged.
    ///   - observer: follows the transactions.
    ///   - maximumBytes: what the file may grow to; beyond that, writes fail as on a full disk.
    ///   - queueLimit: how much work may wait; more fails with ``StoreError/Code/queueFull``.
    package static func open(
        path: String, migrations: [Migration], newest: String? = nil, salvaging tables: [String] = [],
        isDamaged: Bool = false, observer: (any CommitObserver)? = nil, maximumBytes: Int64 = .max,
        queueLimit: Int = 65_536
    ) throws(StoreError) -> Opened {
        try StoreThread.shared.start()
        let (connection, damage) = try DatabaseFile(path: path).open(
            Migrator(migrations: migrations, newest: newest), salvaging: tables, isDamaged: isDamaged)
        if let observer {
            try observer.opened(connection, damage: damage)
            connection.observe(observer)
        }
        let core = DatabaseCore(connection, path: path, maximumBytes: maximumBytes, queueLimit: queueLimit)
        return Opened(database: Database(core), damage: damage)
    }

    /// Does `work` on the store's thread, in a transaction, and then calls `then` there: after the commit, exactly once.
    ///
    /// An error that `work` throws rolls back what it did, and nothing else. From any thread; never blocks.
    package func submit<T: Sendable>(
        _ work: @escaping @Sendable (Connection) throws(StoreError) -> T,
        then: @escaping @Sendable (Result<T, StoreError>) -> Void
    ) {
        core.submit(WorkJob(work, then: then))
    }

    /// ``submit(_:then:)`` for work that can wait: it joins the next transaction that other work causes, or has its own
    /// after `milliseconds` at the latest.
    ///
    /// For marks that only prevent a repeat after a crash: they cost no disk sync of their own while there is traffic.
    /// It keeps its place in the order of submission, and closing runs it.
    package func submitLater<T: Sendable>(
        within milliseconds: UInt64,
        _ work: @escaping @Sendable (Connection) throws(StoreError) -> T,
        then: @escaping @Sendable (Result<T, StoreError>) -> Void = { _ in }
    ) {
        core.submit(WorkJob(work, then: then), .by(.now + milliseconds))
    }

    /// ``submitLater(within:_:then:)`` without a time and its wake-up: unless other work comes, it waits for ``flush()``.
    ///
    /// - Parameter isDurable: `false` = if a power cut undoes it, nothing is wrong. Then it isn't synchronized to the disk
    ///   unless other work is; it survives the end of the process all the same.
    package func submitWithNext<T: Sendable>(
        isDurable: Bool = true, _ work: @escaping @Sendable (Connection) throws(StoreError) -> T,
        then: @escaping @Sendable (Result<T, StoreError>) -> Void = { _ in }
    ) {
        core.submit(WorkJob(work, isDurable: isDurable, then: then), .withNext)
    }

    /// Runs the work that waits for a transaction.
    package func flush() { core.flush() }

    /// ``submit(_:then:)`` for a thread that may wait: not the loop. On the store's own thread it fails with
    /// ``StoreError/Code/wrongThread``, because it would wait for itself.
    ///
    /// - Parameter milliseconds: how long the work may wait for a transaction that other work causes; `nil` = not at all.
    @discardableResult
    package func run<T: Sendable>(
        within milliseconds: UInt64? = nil, _ work: @escaping @Sendable (Connection) throws(StoreError) -> T
    ) throws(StoreError) -> T {
        guard !StoreThread.isCurrent else {
            throw StoreError(.wrongThread, "the store's thread cannot wait for itself")
        }
        let answer = Answer<Result<T, StoreError>>()
        guard let milliseconds else {
            submit(work) { answer.give($0) }
            return try answer.wait().get()
        }
        // The caller is the timer: the store's thread would have to be woken to set one.
        submitWithNext(work) { answer.give($0) }
        if let outcome = answer.wait(until: .now + milliseconds) { return try outcome.get() }
        flush()
        return try answer.wait().get()
    }

    /// Closes the file after everything that was submitted before; `then` runs on the store's thread once it is closed.
    ///
    /// What is submitted from now on fails with ``StoreError/Code/closed``. May be called again: each `then` is called.
    package func close(then: @escaping @Sendable () -> Void) { core.close(then) }

    /// ``close(then:)``, and waits for it; on the store's own thread it does not wait.
    package func close() {
        guard !StoreThread.isCurrent else { return core.close {} }
        let answer = Answer<Void>()
        core.close { answer.give(()) }
        answer.wait()
    }

    /// How much work waits now.
    package var waiting: Int { core.waiting }
}
