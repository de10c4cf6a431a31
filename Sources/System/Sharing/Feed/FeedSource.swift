package import Hosting
import JSON
import Store
import Synchronization

/// Where a program's stored events come from: its own process, if it is the holder, or else the holder's.
///
/// The calls block, for the host's thread.
package protocol FeedBackend: AnyObject, Sendable {
    /// The file in which programs note what their callbacks are about to see.
    func handoverPath(of source: HostEvent.Name) -> String

    /// What this program has in memory as the holder; `nil` = it has to ``take(_:limit:asCopy:)``.
    func local(_ source: HostEvent.Name) -> (any LocalFeed)?
    func take(_ source: HostEvent.Name, limit: Int, asCopy: Bool) throws(HostError) -> FeedBatch
    func finish(_ source: HostEvent.Name, through row: Int64, asCopy: Bool) throws(HostError)
    /// Tells the program that events were dropped before it got them.
    func tellDropped(_ count: Int64)
}

/// The events of a source in the memory of the holder, for its own program: without a way through the loop.
///
/// Once it has begun, the program's marks are kept through it alone.
package protocol LocalFeed: EventSource {
    /// The program takes by this name, beginning with what follows these marks.
    func begin(as application: String, _ marks: FeedMarks)
    /// Whether it has begun, and the store is open.
    var isInUse: Bool { get }
    /// How many events were dropped before the program got them, since the last call.
    func takeDropped() throws(HostError) -> Int64
}

/// A batch of events for a program.
package struct FeedBatch: Sendable {
    package typealias Then = @Sendable (Result<FeedBatch, HostError>) -> Void

    package struct Beginning: Sendable, Equatable {
        /// How far the program was before.
        package var marks: FeedMarks
        /// Another copy of the program takes by its name, and this one by a mark that ends with it.
        package var asCopy = false
    }

    /// Counts the bytes of a batch, as they go over the socket.
    package struct Size {
        private var bytes = 0
        private var isEmpty = true
        /// There was no room for another event.
        package private(set) var isFull = false

        package init() {}

        /// Whether the batch has room for the event. The first one always fits.
        package mutating func fits(_ event: WaitingEvent) -> Bool {
            bytes += JSONValue.object(event.event.data).serializedCount + 256
            isFull = !isEmpty && bytes > FeedBatch.maximumBytes
            isEmpty = false
            return !isFull
        }
    }

    /// Of the events in one batch; an event is never longer than a relay's frame.
    package static let maximumBytes = 4 << 20

    package var events: [WaitingEvent] = []
    /// There when the program begins to take: the first time in its life, after another program of its name, or from
    /// another holder.
    package var begins: Beginning?
    /// How many events were dropped before the program was given them, since it was last told.
    package var dropped: Int64 = 0
    /// It ended at ``maximumBytes``: there is more to take.
    package var isCut = false

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
        if let events = try takeLocally(limit) { return events }
        let batch = try backend.take(name, limit: limit, asCopy: asCopy)
        if batch.dropped > 0 { backend.tellDropped(batch.dropped) }
        if let begins = batch.begins {
            progress.withLock { $0.begin(begins, backend.handoverPath(of: name)) }
            if let events = try takeLocally(limit) { return events }
        }
        let events = marked(batch.events)
        if !events.isEmpty { FailPoint.beforeHandOver.reach() }
        return events
    }

    /// `nil` = this program is not the holder, or not any more.
    private func takeLocally(_ limit: Int) throws(HostError) -> [WaitingEvent]? {
        guard let local = backend.local(name) else { return nil }
        do throws(HostError) {
            let events = try local.take(limit: limit)
            let dropped = try local.takeDropped()
            if dropped > 0 { backend.tellDropped(dropped) }
            return marked(events)
        } catch {
            guard error.code == .closed else { throw error }
            return nil
        }
    }

    private func marked(_ events: [WaitingEvent]) -> [WaitingEvent] {
        progress.withLock { progress in
            events.filter { $0.row > progress.handed }.map { $0.marked(through: progress.seen) }
        }
    }

    package func willHandOver(_ row: Int64) {
        progress.withLock { progress in
            progress.seen = max(progress.seen, row)
            progress.mark?.note(row)
        }
    }

    package func finish(handed: [Int64], untouched: [Int64]) throws(HostError) {
        let through = handed.max()
        if let through { progress.withLock { $0.handed = max($0.handed, through) } }
        if let local = backend.local(name) {
            do throws(HostError) { return try local.finish(handed: handed, untouched: untouched) } catch {
                guard error.code == .closed else { throw error }
            }
        }
        guard let through else { return }
        FailPoint.beforeMark.reach()
        try backend.finish(name, through: through, asCopy: asCopy)
        FailPoint.afterMark.reach()
    }

    /// What was handed over is remembered here, so nothing of it comes again.
    package func restore(untouched: [Int64]) throws(HostError) {
        let through = handed
        if let local = backend.local(name) {
            return try local.finish(handed: through > 0 ? [through] : [], untouched: untouched)
        }
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
