import Delivery
import JSON
import Transport
import Wire

/// The newest pushes of one device that it has not acknowledged: sent from memory, instead of being read from the store.
///
/// Without a gap, at most ``limit`` and about ``byteLimit`` bytes of text; the store has all of them.
struct RecentPushes: Sendable {
    static let limit = 512
    static let byteLimit = 256 * 1_024
    /// Entries that a page has at most.
    static let pageLimit = 32

    private struct Recent: Sendable {
        let entry: Outbox.Entry
        let bytes: Int
    }

    private var entries = FIFO<Recent>()
    private var bytes = 0

    mutating func append(_ entry: Outbox.Entry) {
        // What replaces others leaves gaps among them.
        if entry.event.richer.collapseKey != nil { forget() }
        if let last = entries.last, last.entry.seq + 1 != entry.seq { forget() }
        let size = entry.event.textBytes
        bytes += size
        entries.append(Recent(entry: entry, bytes: size))
        while entries.count > Self.limit || bytes > Self.byteLimit, removeFirst() {}
    }

    /// The device has everything through this one.
    mutating func settle(through seq: Int64) {
        while let first = entries.first, first.entry.seq <= seq, removeFirst() {}
    }

    /// Something was withdrawn, or renumbered, or the device is not there: the store knows.
    mutating func forget() { (entries, bytes) = (FIFO(), 0) }

    /// What there is from this number on; `nil` = that is for the store to say.
    func page(from first: Int64, now: ExpiryMoment) -> Outbox.Page? {
        guard let oldest = entries.first?.entry, oldest.seq <= first else { return nil }
        var page: [Outbox.Entry] = []
        for recent in entries.dropFirst(Int(clamping: first - oldest.seq)).prefix(Self.pageLimit) {
            let entry = recent.entry
            if let expiresAt = entry.event.richer.expiresAt, now.hasPassed(expiresAt) { break }
            page.append(entry)
        }
        guard let last = page.last else { return nil }
        return Outbox.Page(from: first, through: last.seq, entries: page)
    }

    private mutating func removeFirst() -> Bool {
        guard let first = entries.removeFirst() else { return false }
        bytes -= first.bytes
        return true
    }
}

extension NotificationEvent {
    /// About so many bytes of text it has; what has limits of a few hundred bytes is not counted.
    fileprivate var textBytes: Int {
        title.utf8.count + body.utf8.count + (data.map { JSONValue.object($0).textBytes } ?? 0)
    }
}

extension JSONValue {
    fileprivate var textBytes: Int {
        switch self {
        case .null, .bool, .integer, .double: 8
        case .string(let text): text.utf8.count
        case .array(let values): values.reduce(0) { $0 + $1.textBytes }
        case .object(let object): object.members.reduce(0) { $0 + $1.key.utf8.count + $1.value.textBytes }
        }
    }
}
