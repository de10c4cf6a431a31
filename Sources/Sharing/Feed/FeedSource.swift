package import Hosting
import Synchronization

/// Where a program's stored events come from: its own database, or its holder.
///
/// The calls block, for the host's thread.
package protocol FeedBackend: AnyObject, Sendable {
    func take(_ source: HostEvent.Name, limit: Int) throws(HostError) -> [WaitingEvent]
    func finish(_ source: HostEvent.Name, through row: Int64) throws(HostError)
    /// Doesn't block.
    func seen(_ source: HostEvent.Name, _ row: Int64)
}

/// The stored events of one name, for one program of those that share a state directory.
///
/// What it hands over it remembers as long as the program lives: should the holder die before that is recorded, its
/// successor is told.
package final class FeedSource: EventSource {
    package let name: HostEvent.Name
    // It owns its sources.
    private unowned let backend: any FeedBackend
    private let handedThrough = Mutex(Int64(0))

    package init(_ name: HostEvent.Name, _ backend: any FeedBackend) {
        self.name = name
        self.backend = backend
    }

    /// Through which row callbacks have returned, in this life of the program; 0 = none.
    package var handed: Int64 { handedThrough.withLock { $0 } }

    package func take(limit: Int) throws(HostError) -> [WaitingEvent] {
        let taken = try backend.take(name, limit: limit)
        let handed = handed
        return taken.filter { $0.row > handed }
    }

    package func willHandOver(_ row: Int64) { backend.seen(name, row) }

    package func finish(handed: [Int64], untouched: [Int64]) throws(HostError) {
        guard let through = handed.max() else { return }
        handedThrough.withLock { $0 = max($0, through) }
        try backend.finish(name, through: through)
    }

    /// What was handed over is remembered here, so nothing of it comes again.
    package func restore(untouched: [Int64]) throws(HostError) {
        let through = handed
        if through > 0 { try backend.finish(name, through: through) }
    }
}
