package import Relay
internal import Store
internal import Synchronization

/// The stored frames on disk: `frames.db` in the state directory.
package final class FrameDatabase: Sendable {
    package struct Opened: Sendable {
        package let database: FrameDatabase
        /// In the order of their sequences.
        package let frames: [ArchivedFrame]
        /// Path of a damaged file that was moved aside; a new one was created.
        package let movedAside: String?
    }

    /// What one job deletes or inserts at most: on a full disk each is a transaction of its own.
    private static let (rowsTogether, bytesTogether) = (64, 262_144)

    private let database: Database
    private let room: DiskRoom

    private init(_ database: Database, _ room: DiskRoom) { (self.database, self.room) = (database, room) }

    private static let schema = Migration(
        "frames.1",
        sql: """
            CREATE TABLE stored_frame (
                sequence INTEGER PRIMARY KEY, peer BLOB NOT NULL, network TEXT, sender BLOB,
                stored_at INTEGER NOT NULL, is_sealed INTEGER NOT NULL, frame BLOB NOT NULL
            ) STRICT
            """)

    /// Opens the file, and reads what it has. Blocks; not for the loop.
    ///
    /// - Parameter maximumBytes: what the file may grow to; beyond that, writes fail as on a full disk.
    package static func open(_ path: String, maximumBytes: Int) throws(ServiceError) -> Opened {
        do throws(StoreError) {
            let opened = try Database.open(path: path, migrations: [schema], maximumBytes: Int64(maximumBytes))
            let frames = try opened.database.run { connection throws(StoreError) in
                try connection.query(
                    """
                    SELECT sequence, peer, network, sender, stored_at, is_sealed, frame FROM stored_frame
                    ORDER BY sequence
                    """
                ) { (row) throws(StoreError) in
                    let (sender, network) = (try row.optionalBlob(3), try row.optionalText(2))
                    return ArchivedFrame(
                        sequence: try row.integer(0), peer: try row.blob(1),
                        source: sender.map { .proved($0) } ?? .network(network ?? ""),
                        storedAt: try row.integer(4), isSealed: try row.flag(5), bytes: try row.blob(6))
                }
            }
            return Opened(
                database: FrameDatabase(opened.database, DiskRoom(path: path)), frames: frames,
                movedAside: opened.movedAside)
        } catch {
            throw ServiceError(.notStarted, "cannot open \(path): \(error)")
        }
    }

    /// What became of a batch: why it could not be written.
    struct Outcome: Sendable {
        var gone: String?
        var kept: String?
    }

    /// Writes a batch. Deletions do not fail with the frames: on a full disk they make the room for these. `then` is called
    /// on the store's thread, once the batch is on disk or can't be.
    func write(_ batch: ArchiveJournal.Batch, then: @escaping @Sendable (Outcome) -> Void) {
        let outcome = OutcomeBox()
        // All are there before the thread looks, so that they share a commit in most cases.
        let together = max(room.isTight ? 1 : Self.rowsTogether, batch.gone.count / 512)
        for start in stride(from: 0, to: batch.gone.count, by: together) {
            let sequences = batch.gone[start..<min(start + together, batch.gone.count)]
            database.submit { (connection) throws(StoreError) in
                for sequence in sequences {
                    try connection.execute("DELETE FROM stored_frame WHERE sequence = ?", [.integer(sequence)])
                }
            } then: { result in
                if case .failure(let error) = result { outcome.value.withLock { $0.gone = error.description } }
            }
        }
        for frames in Self.parts(of: batch.kept) {
            database.submit { (connection) throws(StoreError) in
                for frame in frames { try Self.insert(frame, connection) }
            } then: { result in
                if case .failure(let error) = result { outcome.value.withLock { $0.kept = error.description } }
            }
        }
        database.submit { _ throws(StoreError) in
        } then: { _ in
            then(outcome.value.withLock { $0 })
        }
    }

    private static func parts(of frames: [ArchivedFrame]) -> [[ArchivedFrame]] {
        var parts: [[ArchivedFrame]] = []
        var bytes = bytesTogether
        for frame in frames {
            if bytes + frame.bytes.count > bytesTogether {
                parts.append([])
                bytes = 0
            }
            parts[parts.count - 1].append(frame)
            bytes += frame.bytes.count
        }
        return parts
    }

    private final class OutcomeBox: Sendable {
        let value = Mutex(Outcome())
    }

    private static func insert(_ frame: ArchivedFrame, _ connection: Connection) throws(StoreError) {
        var network: String?
        var sender: [UInt8]?
        switch frame.source {
        case .network(let name): network = name
        case .proved(let id): sender = id
        }
        try connection.execute(
            """
            INSERT OR REPLACE INTO stored_frame(sequence, peer, network, sender, stored_at, is_sealed, frame)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(frame.sequence), .blob(frame.peer), .optional(network), .optional(sender),
                .integer(frame.storedAt), .flag(frame.isSealed), .blob(frame.bytes),
            ])
    }

    package func close(then: @escaping @Sendable () -> Void) { database.close(then: then) }
}
