package import Hosting
package import Store
import Synchronization

/// Moves a shared role's stored events into the feed of the programs that share it.
///
/// It is there before the role is opened, and learns of its store right after that.
package final class EventSpool: Sendable {
    /// Moves what waits for the program, in the transaction of its caller. Returns the sources that have more now.
    package typealias Move =
        @Sendable (Connection, _ takers: (HostEvent.Name) -> [String]) throws(StoreError) -> [HostEvent.Name]

    private struct State {
        var database: Database?
        var feed: StoredFeed?
        var tell: (@Sendable ([HostEvent.Name]) -> Void)?
    }

    private let move: Move
    private let state = Mutex(State())

    package init(_ move: @escaping Move) { self.move = move }

    /// From now on events can be moved.
    package func attach(
        _ database: Database, _ feed: StoredFeed, tell: @escaping @Sendable ([HostEvent.Name]) -> Void
    ) {
        state.withLock { ($0.database, $0.feed, $0.tell) = (database, feed, tell) }
    }

    /// On the store's thread, in the transaction that has stored the events.
    package func moveWaiting(_ connection: Connection) throws(StoreError) -> [HostEvent.Name] {
        let feed = state.withLock { $0.feed }
        return try move(connection) { feed?.takers($0) ?? [] }
    }

    /// After a commit: programs have something to take.
    package func tell(_ sources: [HostEvent.Name]) {
        guard !sources.isEmpty else { return }
        state.withLock { $0.tell }?(sources)
    }

    /// Events were stored by work that does not move them itself.
    package func flush() {
        guard let database = state.withLock({ $0.database }) else { return }
        database.submit { [self] (connection) throws(StoreError) in
            try moveWaiting(connection)
        } then: { [self] result in
            // A failed store tells by itself; the next event tries again.
            if case .success(let sources) = result { tell(sources) }
        }
    }
}
