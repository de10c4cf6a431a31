import Hosting

/// The sources with stored events for the host, and which of their events are being delivered.
///
/// A pure value; times are the monotonic milliseconds of the dispatching thread.
struct StoredSources {
    private struct Source {
        let name: HostEvent.Name
        /// With or without a subscription for it.
        var waits = false
        /// When the store last failed to return its events.
        var failedAt: Int64?
        /// Rows of a batch that could not be marked and that no callback has seen: the batch must be restored first.
        var unmarked: [Int64]?
    }

    /// The events of one source that the running dispatch delivers, in order.
    struct Batch {
        let name: HostEvent.Name
        fileprivate let rows: [Int64]
        /// How many of `rows` a callback may have seen.
        fileprivate var count = 0

        var handed: [Int64] { Array(rows.prefix(count)) }
        var untouched: [Int64] { Array(rows.dropFirst(count)) }
    }

    /// How long a source that failed is left alone, in milliseconds.
    static let retryInterval: Int64 = 1_000

    private var sources: [Source] = []
    private var batches: [Batch] = []

    /// The sources that have something, and have not failed.
    var ready: [HostEvent.Name] { sources.lazy.filter { $0.waits && $0.failedAt == nil }.map(\.name) }

    /// The source has something in the store.
    mutating func waits(_ name: HostEvent.Name) {
        change(name) { ($0.waits, $0.failedAt) = (true, nil) }
    }

    /// Every source may be asked again.
    mutating func forgetFailures() {
        for index in sources.indices { sources[index].failedAt = nil }
    }

    /// Sources whose failure is old enough may be asked again. Returns whether there is one.
    mutating func retry(now: Int64) -> Bool {
        var retries = false
        for index in sources.indices {
            guard let failedAt = sources[index].failedAt, now &- failedAt >= Self.retryInterval else { continue }
            sources[index].failedAt = nil
            retries = true
        }
        return retries
    }

    // MARK: Handing over

    /// The source is about to be asked. Returns the rows to restore before that, if any.
    mutating func willTake(_ name: HostEvent.Name) -> [Int64]? {
        change(name) { source in
            source.waits = false
            return source.unmarked
        }
    }

    mutating func restored(_ name: HostEvent.Name) { change(name) { $0.unmarked = nil } }

    mutating func failed(_ name: HostEvent.Name, now: Int64) {
        change(name) { ($0.waits, $0.failedAt) = (true, now) }
    }

    mutating func begin(_ name: HostEvent.Name, rows: [Int64]) { batches.append(Batch(name: name, rows: rows)) }

    /// From the moment at which the first callback is about to run with it.
    mutating func handed(_ row: Int64) {
        guard let last = batches.indices.last else { return }
        let batch = batches[last]
        if let index = batch.rows[batch.count...].firstIndex(of: row) { batches[last].count = index + 1 }
    }

    /// The newest batch has been handed over as far as its subscriptions took it.
    mutating func batchEnded(isFull: Bool) {
        guard let batch = batches.last else { return }
        if isFull || batch.count < batch.rows.count { change(batch.name) { $0.waits = true } }
    }

    /// The dispatch ended in the middle of its batches: the next one marks them, and takes the rest again.
    mutating func abandoned() {
        for batch in batches { change(batch.name) { $0.waits = true } }
    }

    /// What the dispatch has to mark.
    mutating func takeBatches() -> [Batch] {
        defer { batches = [] }
        return batches
    }

    /// A batch could not be marked: its events come again with the next dispatch, and say so.
    mutating func notMarked(_ batch: Batch) {
        change(batch.name) { ($0.unmarked, $0.waits) = (batch.untouched, true) }
    }

    private mutating func change<Result>(_ name: HostEvent.Name, _ body: (inout Source) -> Result) -> Result {
        if let index = sources.firstIndex(where: { $0.name == name }) { return body(&sources[index]) }
        var source = Source(name: name)
        defer { sources.append(source) }
        return body(&source)
    }
}
