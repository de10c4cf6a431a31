package import Hosting
package import Store
import Synchronization

/// The holder's side of every program's feed, for any thread: who takes.
///
/// Programs with the same name share one mark, so that only one of them is given events at a time: the first that takes.
/// Copies of a program without a name of its own take by marks that end with them.
package final class StoredFeed: Sendable {
    /// A program that runs: the holder itself is 0, guests count up.
    package typealias Session = Int

    private struct Lease {
        let session: Session
        /// It has been told its marks.
        var isBegun = false
    }

    private struct Key: Hashable {
        let application: String
        let source: HostEvent.Name
    }

    private let database: Database
    private let stored: StoredEvents
    private let leases = Mutex<[Key: Lease]>([:])

    package init(_ database: Database, _ stored: StoredEvents) { (self.database, self.stored) = (database, stored) }

    /// Programs that take the events of that source as they come.
    package func takers(_ source: HostEvent.Name) -> [String] {
        leases.withLock { leases in leases.keys.filter { $0.source == source }.map(\.application) }
    }

    /// - Parameter asCopy: the session takes by the mark of a copy already.
    package func take(
        _ taker: FeedTaker, _ source: HostEvent.Name, limit: Int, asCopy: Bool, for session: Session,
        then: @escaping FeedBatch.Then
    ) {
        let taken = leases.withLock { leases -> (Key, Lease)? in
            for application in asCopy ? [taker.name(asCopy: true)] : taker.names {
                let key = Key(application: application, source: source)
                if let lease = leases[key] {
                    guard lease.session == session else { continue }
                    return (key, lease)
                }
                let lease = Lease(session: session)
                leases[key] = lease
                return (key, lease)
            }
            return nil
        }
        guard let (key, lease) = taken, let table = stored.tables[source] else { return then(.success(FeedBatch())) }
        // The holder's own program takes the others from memory.
        let onlyBegins = session == 0 && stored.local.contains(source)
        let application = key.application
        let isCopy = application == taker.copy
        database.submit { [self] (connection) throws(StoreError) in
            var batch = FeedBatch()
            if !lease.isBegun {
                if isCopy { try Applications(connection, stored.tables).register(application, now: .wallClock) }
                let isFirst = try table.join(application, connection)
                // Before anything is moved: callbacks can't have seen that yet.
                batch.begins = try table.begin(application, connection).map { .init(marks: $0, asCopy: isCopy) }
                // If others want this source, nothing waits.
                if isFirst { _ = try stored.move(connection) { takers($0) } }
            }
            batch.dropped = try table.takeDropped(application, connection)
            if !onlyBegins {
                var size = FeedBatch.Size()
                batch.events = try table.take(application, limit: limit, &size, connection)
                batch.isCut = size.isFull
            }
            return batch
        } then: { [self] result in
            if case .success = result { begun(key, session) }
            then(result.mapError { HostError($0) })
        }
    }

    package func finish(
        _ application: String, _ source: HostEvent.Name, through row: Int64,
        then: @escaping @Sendable (Result<Void, HostError>) -> Void
    ) {
        database.submitLater(within: Self.finishDelay) { [stored] (connection) throws(StoreError) in
            try stored.tables[source]?.finish(application, through: row, connection)
        } then: {
            then($0.mapError { HostError($0) })
        }
    }

    /// How long the mark of a dispatch may wait for another transaction, in milliseconds.
    private static let finishDelay: UInt64 = 2

    private func begun(_ key: Key, _ session: Session) {
        leases.withLock { leases in
            if leases[key]?.session == session { leases[key]?.isBegun = true }
        }
    }

    /// The session has ended: lets others of its name take.
    ///
    /// - Parameters:
    ///   - seen: through which row its callbacks were called, by source, of a program that ended by itself.
    ///   - then: called on any thread, with the sources that others may take now.
    package func end(
        _ session: Session, seen: [HostEvent.Name: Int64]? = nil,
        then: @escaping @Sendable ([HostEvent.Name]) -> Void = { _ in }
    ) {
        let ended = leases.withLock { leases in
            let ended = leases.filter { $0.value.session == session }
            for key in ended.keys { leases[key] = nil }
            return ended
        }
        let sources = ended.keys.map(\.source)
        guard let seen, !ended.isEmpty else { return then(sources) }
        database.submit { [stored] (connection) throws(StoreError) in
            for (key, lease) in ended where lease.isBegun {
                if FeedTaker.isCopy(key.application) {
                    try Applications(connection, stored.tables).forget(key.application)
                } else if let row = seen[key.source] {
                    try stored.tables[key.source]?.settle(key.application, seen: row, connection)
                }
            }
        } then: { _ in
            then(sources)
        }
    }
}
