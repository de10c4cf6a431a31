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

    func take(_ source: HostEvent.Name, limit: Int) throws(HostError) -> FeedBatch
    func finish(_ source: HostEvent.Name, through row: Int64) throws(HostError)
}

/// A batch of events for a program.
package struct FeedBatch: Sendable {
    package typealias Then = @Sendable (Result<FeedBatch, HostError>) -> Void

    package var events: [WaitingEvent] = []
    /// How far the program was before, when it begins to take: the first time in its life, after another program of its
    /// name, or from another holder.
    package var begins: ApplicationFeed.Marks?

    package init(_ events: [WaitingEvent] = [], begins: ApplicationFeed.Marks? = nil) {
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
    }

    package init(_ name: HostEvent.Name, _ backend: any FeedBackend) {
        self.name = name
        self.backend = backend
    }

    /// Through which row callbacks have returned, in this life of the program; 0 = none.
    package var handed: Int64 { progress.withLock { $0.handed } }
    /// Through which row callbacks may have been called; `nil` = nothing was taken.
    package var seen: Int64? { progress.withLock { $0.seen > 0 ? $0.seen : nil } }

    package func take(limit: Int) throws(HostError) -> [WaitingEvent] {
        let batch = try backend.take(name, limit: limit)
        let events = progress.withLock { progress in
            if let marks = batch.begins { progress.begin(marks, backend.handoverPath) }
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
        try backend.finish(name, through: through)
        FailPoint.afterMark.reach()
    }

    /// What was handed over is remembered here, so nothing of it comes again.
    package func restore(untouched: [Int64]) throws(HostError) {
        let through = handed
        if through > 0 { try backend.finish(name, through: through) }
    }
}

extension FeedSource.Progress {
    fileprivate mutating func begin(_ marks: ApplicationFeed.Marks, _ path: String) {
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
