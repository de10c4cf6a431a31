import Identity
import Wire

/// The boxes of the peers that were spoken with last. Each takes locked memory; one that is missing is computed again.
struct BoxCache {
    private struct Entry {
        let box: Box
        var use: UInt64
    }

    private let limit: Int
    private var entries: [PeerID: Entry] = [:]
    private var uses: UInt64 = 0

    init(limit: Int) { self.limit = max(1, limit) }

    var count: Int { entries.count }

    subscript(peer: PeerID) -> Box? {
        mutating get {
            guard let box = entries[peer]?.box else { return nil }
            uses &+= 1
            entries[peer]?.use = uses
            return box
        }
    }

    mutating func insert(_ box: Box, of peer: PeerID) {
        uses &+= 1
        if entries[peer] == nil, entries.count >= limit,
            let oldest = entries.min(by: { $0.value.use < $1.value.use })?.key
        {
            entries[oldest] = nil
        }
        entries[peer] = Entry(box: box, use: uses)
    }

    mutating func remove(_ peer: PeerID) { entries[peer] = nil }
}
