import Notifications
import Wire

/// The pushes that were seen lately: at most so many, the least recently seen forgotten first.
///
/// A ring of links over fixed slots: each operation is one look-up, however many there are.
struct RecentPushes: Sendable {
    /// One notification of one desktop.
    struct Key: Hashable, Sendable {
        let desktop: PeerID
        let id: NotificationID
    }

    private struct Slot: Sendable {
        var key: Key
        var seenAt: UInt64
        var older: Int
        var newer: Int
    }

    private let limit: Int
    private var slots: [Slot] = []
    private var index: [Key: Int] = [:]
    /// -1 while there are none.
    private var newest = -1
    private var oldest = -1
    /// Slots of those that were taken out.
    private var free: [Int] = []

    init(limit: Int) {
        precondition(limit > 0)
        self.limit = limit
    }

    var count: Int { index.count }

    /// When the key was inserted; `nil` when it is not here. It becomes the most recently seen.
    mutating func touch(_ key: Key) -> UInt64? {
        guard let slot = index[key] else { return nil }
        unlink(slot)
        linkAsNewest(slot)
        return slots[slot].seenAt
    }

    /// Puts the key in, or anew, as the most recently seen.
    mutating func insert(_ key: Key, at now: UInt64) {
        remove(key)
        if index.count == limit { remove(slots[oldest].key) }
        let slot: Int
        if let reused = free.popLast() {
            slot = reused
            slots[slot].key = key
            slots[slot].seenAt = now
        } else {
            slot = slots.count
            slots.append(Slot(key: key, seenAt: now, older: -1, newer: -1))
        }
        index[key] = slot
        linkAsNewest(slot)
    }

    mutating func remove(_ key: Key) {
        guard let slot = index.removeValue(forKey: key) else { return }
        unlink(slot)
        free.append(slot)
    }

    private mutating func linkAsNewest(_ slot: Int) {
        slots[slot].older = newest
        slots[slot].newer = -1
        if newest >= 0 { slots[newest].newer = slot } else { oldest = slot }
        newest = slot
    }

    private mutating func unlink(_ slot: Int) {
        let (older, newer) = (slots[slot].older, slots[slot].newer)
        if older >= 0 { slots[older].newer = newer } else { oldest = newer }
        if newer >= 0 { slots[newer].older = older } else { newest = older }
    }
}
