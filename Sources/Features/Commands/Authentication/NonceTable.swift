import Wire

/// The nonces that were used: each is good once within 10 minutes.
///
/// Moments are monotonic milliseconds. Only nonces under a valid signature get in, so only a paired device can fill it;
/// at the limit the oldest is forgotten, which the ±5 minutes of the timestamp still guard.
struct NonceTable: Sendable {
    private struct Key: Hashable {
        let device: PeerID
        let nonce: String
    }

    private var used: Set<Key> = []
    /// In the order of use; the first `head` have been forgotten.
    private var order: [(key: Key, until: UInt64)] = []
    private var head = 0
    private let limit: Int

    static let lifetime: UInt64 = 10 * 60 * 1_000

    init(limit: Int) { self.limit = limit }

    var count: Int { used.count }

    /// False when it was used before.
    mutating func use(_ nonce: String, by device: PeerID, monotonic now: UInt64) -> Bool {
        forget { $0 <= now }
        let key = Key(device: device, nonce: nonce)
        guard used.insert(key).inserted else { return false }
        order.append((key, now &+ NonceTable.lifetime))
        while used.count > limit { forgetOldest() }
        return true
    }

    private mutating func forget(where isOver: (UInt64) -> Bool) {
        while head < order.count, isOver(order[head].until) { forgetOldest() }
    }

    private mutating func forgetOldest() {
        guard head < order.count else { return }
        used.remove(order[head].key)
        head += 1
        // The forgotten half is given back at once: that costs each entry one move.
        if head * 2 >= order.count {
            order.removeFirst(head)
            head = 0
        }
    }
}
