package import Hosting
package import Store
import Synchronization

/// The holder's side of every program's feed, for any thread: who takes, and what its callbacks have seen.
///
/// Programs with the same name share one mark, so that only one of them is given events at a time: the first that takes.
package final class StoredFeed: Sendable {
    /// A program that runs: the holder itself is 0, guests count up.
    package typealias Session = Int

    private struct Lease {
        let session: Session
        /// Callbacks may have been called with everything through this row.
        var seen: Int64
        /// The mark in the database says so, as far as the last holder left it.
        var isKnown = false
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

    package func take(
        _ application: String, _ source: HostEvent.Name, limit: Int, for session: Session,
        then: @escaping @Sendable (Result<[WaitingEvent], HostError>) -> Void
    ) {
        let key = Key(application: application, source: source)
        let lease = leases.withLock { leases -> Lease? in
            if let lease = leases[key] { return lease.session == session ? lease : nil }
            let lease = Lease(session: session, seen: 0)
            leases[key] = lease
            return lease
        }
        guard let lease else { return then(.success([])) }
        database.submit { [self] (connection) throws(StoreError) in
            let feed = ApplicationFeed(connection)
            if !lease.isKnown, try feed.join(application, source) {
                // If others want this source, nothing waits.
                _ = try move(connection) { takers($0) }
            }
            var seen = lease.seen
            if !lease.isKnown { seen = max(seen, try feed.marks(application, source)?.offered ?? 0) }
            return (try feed.take(application, source, limit: limit, seen: seen), seen)
        } then: { [self] result in
            if case .success((_, let seen)) = result { learn(key, session, seen, isKnown: true) }
            then(result.map(\.0).mapError { HostError($0) })
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

    /// A callback of that program is about to be called with this row.
    package func seen(_ application: String, _ source: HostEvent.Name, _ row: Int64, by session: Session) {
        learn(Key(application: application, source: source), session, row, isKnown: false)
    }

    private func learn(_ key: Key, _ session: Session, _ seen: Int64, isKnown: Bool) {
        leases.withLock { leases in
            guard var lease = leases[key], lease.session == session else { return }
            lease.seen = max(lease.seen, seen)
            lease.isKnown = lease.isKnown || isKnown
            leases[key] = lease
        }
    }

    /// The session has ended: lets others of its name take.
    ///
    /// - Parameters:
    ///   - settles: what its callbacks have seen is known, because it ended by itself. A program that was killed may have
    ///     called one and not said so: all that was offered to it counts.
    ///   - then: called on any thread, with the sources that others may take now.
    package func end(
        _ session: Session, settles: Bool, then: @escaping @Sendable ([HostEvent.Name]) -> Void = { _ in }
    ) {
        let ended = leases.withLock { leases in
            let ended = leases.filter { $0.value.session == session }
            for key in ended.keys { leases[key] = nil }
            return ended.map { (key: $0.key, lease: $0.value) }
        }
        let sources = ended.map(\.key.source)
        guard settles, !ended.isEmpty else { return then(sources) }
        database.submit { (connection) throws(StoreError) in
            for (key, lease) in ended where lease.isKnown {
                try ApplicationFeed(connection).settle(key.application, key.source, seen: lease.seen)
            }
        } then: { _ in
            then(sources)
        }
    }
}
