import Delivery
import Wire

/// The newest pushes of one device that it has not acknowledged: sent from memory, instead of being read from the store.
///
/// Without a gap, at most ``limit``, and none with more than ``textLimit`` bytes of text; the store has all of them.
struct RecentPushes: Sendable {
    static let limit = 512
    static let textLimit = 4_096
    /// Entries that a page has at most.
    static let pageLimit = 32

    private var entries = FIFO<Outbox.Entry>()

    mutating func append(_ entry: Outbox.Entry) {
        guard entry.event.title.utf8.count + entry.event.body.utf8.count <= Self.textLimit, entry.event.data == nil
        else {
            return forget()
        }
        // Whatever replaces others makes gaps among them.
        if entry.event.richer.collapseKey != nil { forget() }
        if let last = entries.last, last.seq + 1 != entry.seq { forget() }
        entries.append(entry)
        if entries.count > Self.limit { _ = entries.removeFirst() }
    }

    /// The device has everything through this one.
    mutating func settle(through seq: Int64) {
        while let first = entries.first, first.seq <= seq { _ = entries.removeFirst() }
    }

    /// Something was withdrawn, or renumbered, or the device is not there: the store knows.
    mutating func forget() { entries = FIFO() }

    /// What there is from this number on; `nil` = that is for the store to say.
    func page(from first: Int64, now: EpochMilliseconds) -> Outbox.Page? {
        guard let oldest = entries.first, oldest.seq <= first else { return nil }
        var page: [Outbox.Entry] = []
        for entry in entries.dropFirst(Int(clamping: first - oldest.seq)).prefix(Self.pageLimit) {
            if let expiresAt = entry.event.richer.expiresAt, expiresAt <= now { break }
            page.append(entry)
        }
        guard let last = page.last else { return nil }
        return Outbox.Page(from: first, through: last.seq, entries: page)
    }
}
