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
    private let move: EventSpool.Move
    private let leases = Mutex<[Key: Lease]>([:])

    /// - Parameter move: moves what waits for a first program.
    package init(_ database: Database, move: @escaping EventSpool.Move) {
        (self.database, self.move) = (database, move)
    }

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
        guard let (key, lease) = taken else { return then(.success(FeedBatch())) }
        let application = key.application
        let isCopy = application == taker.copy
        database.submit { [self] (connection) throws(StoreError) in
            let feed = ApplicationFeed(connection)
            var batch = FeedBatch()
            if !lease.isBegun {
                if isCopy { try feed.register(application, now: .wallClock) }
                let isFirst = try feed.join(application, source)
                // Before anything is moved: callbacks can't have seen that yet.
                batch.begins = try feed.marks(application, source).map { .init(marks: $0, asCopy: isCopy) }
                // If others want this source, nothing waits.
                if isFirst { _ = try move(connection) { takers($0) } }
            }
            batch.dropped = try feed.takeDropped(application, source)
            batch.events = try feed.take(application, source, limit: limit)
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
        database.submitLater(within: Self.finishDelay) { (connection) throws(StoreError) in
            _ = try ApplicationFeed(connection).finish(application, source, through: row)
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
        database.submit { (connection) throws(StoreError) in
            let feed = ApplicationFeed(connection)
            for (key, lease) in ended where lease.isBegun {
                if FeedTaker.isCopy(key.application) {
                    try feed.forget(key.application)
                } else if let row = seen[key.source] {
                    try feed.settle(key.application, key.source, seen: row)
                }
            }
        } then: { _ in
            then(sources)
        }
    }
}
