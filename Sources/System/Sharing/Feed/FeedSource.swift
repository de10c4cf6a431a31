package import Hosting
import JSON
import Store
import Synchronization

/// Where a program's stored events come from: its own database, or its holder.
///
/// The calls block, for the host's thread.
package protocol FeedBackend: AnyObject, Sendable {
    /// The file in which programs note what their callbacks are about to see.
    var handoverPath: String { get }

    func take(_ source: HostEvent.Name, limit: Int, asCopy: Bool) throws(HostError) -> FeedBatch
    func finish(_ source: HostEvent.Name, through row: Int64, asCopy: Bool) throws(HostError)
}

/// A batch of events for a program.
package struct FeedBatch: Sendable {
    package typealias Then = @Sendable (Result<FeedBatch, HostError>) -> Void

    package struct Beginning: Sendable, Equatable {
        /// How far the program was before.
        package var marks: ApplicationFeed.Marks
        /// Another copy of the program takes by its name, and this one by a mark that ends with it.
        package var asCopy = false
    }

    package var events: [WaitingEvent] = []
    /// There when the program begins to take: the first time in its life, after another program of its name, or from
    /// another holder.
    package var begins: Beginning?
    /// How many events were dropped before the program was given them, since it was last told.
    package var dropped: Int64 = 0

    package init(_ events: [WaitingEvent] = [], begins: Beginning? = nil) {
        (self.events, self.begins) = (events, begins)
    }
}

/// The stored events of one name, for one program of those that share a state directory.
///
/// What it hands over it remembers as long as the program lives: should the holder die before that is recorded, its
/// successor is told.
package final class FeedSource: EventSource {
    package let name: HostEvent.Name
    // It owns its sources.
    private unowned let backend: any FeedBackend
    private let progress = Mutex(Progress())

    fileprivate struct Progress {
        /// Through which row callbacks have returned.
        var handed: Int64 = 0
        /// Through which row callbacks may have been called, earlier lives of the program included.
        var seen: Int64 = 0
        var mark: HandoverMark?
        /// See ``FeedBatch/Beginning``.
        var asCopy = false
    }

    package init(_ name: HostEvent.Name, _ backend: any FeedBackend) {
        self.name = name
        self.backend = backend
    }

    private var handed: Int64 { progress.withLock { $0.handed } }
    private var asCopy: Bool { progress.withLock { $0.asCopy } }
    /// Through which row callbacks have returned, in this life of the program, by the program's own mark; 0 = none.
    package var handedByName: Int64 { progress.withLock { $0.asCopy ? 0 : $0.handed } }
    /// Through which row callbacks may have been called; `nil` = nothing was taken.
    package var seen: Int64? { progress.withLock { $0.seen > 0 ? $0.seen : nil } }

    package func take(limit: Int) throws(HostError) -> [WaitingEvent] {
        let batch = try backend.take(name, limit: limit, asCopy: asCopy)
        let events = progress.withLock { progress in
            if let begins = batch.begins { progress.begin(begins, backend.handoverPath) }
            return batch.events.filter { $0.row > progress.handed }.map { $0.marked(through: progress.seen) }
        }
        if !events.isEmpty { FailPoint.beforeHandOver.reach() }
        return events
    }

    package func willHandOver(_ row: Int64) {
        progress.withLock { progress in
            progress.seen = max(progress.seen, row)
            progress.mark?.note(row)
        }
    }

    package func finish(handed: [Int64], untouched: [Int64]) throws(HostError) {
        guard let through = handed.max() else { return }
        FailPoint.beforeMark.reach()
        progress.withLock { $0.handed = max($0.handed, through) }
        try backend.finish(name, through: through, asCopy: asCopy)
        FailPoint.afterMark.reach()
    }

    /// What was handed over is remembered here, so nothing of it comes again.
    package func restore(untouched: [Int64]) throws(HostError) {
        let through = handed
        if through > 0 { try backend.finish(name, through: through, asCopy: asCopy) }
    }
}

extension FeedSource.Progress {
    fileprivate mutating func begin(_ beginning: FeedBatch.Beginning, _ path: String) {
        let marks = beginning.marks
        asCopy = beginning.asCopy
        mark = HandoverMark(path: path, slot: marks.slot)
        seen = max(seen, mark?.begin(handed: marks.handed, offered: marks.offered) ?? marks.offered)
    }
}

extension WaitingEvent {
    fileprivate func marked(through seen: Int64) -> WaitingEvent {
        guard row <= seen else { return self }
        var data = event.data
        data["redelivered"] = true
        return WaitingEvent(row: row, event: HostEvent(event.name, desktop: event.desktop, data: data))
    }
}
