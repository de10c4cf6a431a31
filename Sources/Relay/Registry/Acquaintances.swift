/// Who has talked with whom: what decides who hears of whom (presence, `get-peers`).
///
/// It counts for both sides, in whichever direction the first frame went: a desktop that pushes to an absent phone
/// wants to hear when it comes. Bounded: with one more than the limit for one peer, its oldest acquaintance is
/// forgotten; when the whole table is full, a peer can only replace its own.
struct Acquaintances {
    struct Limits {
        var perPeer: Int
        var total: Int
    }

    private let limits: Limits
    /// Each pair stands on both sides, the oldest first.
    private var partners: [Int: [Int]] = [:]
    private(set) var count = 0
    /// Changes when something is forgotten: a caller that remembers a pair must ask again.
    private(set) var version: UInt32 = 0

    init(limits: Limits) { self.limits = limits }

    func of(_ peer: Int) -> [Int] { partners[peer] ?? [] }

    func know(_ one: Int, _ other: Int) -> Bool { partners[one]?.contains(other) ?? false }

    func isEmpty(for peer: Int) -> Bool { partners[peer] == nil }

    /// Notes that `sender` has sent something to `target`. Returns whom either of them had to forget for it.
    mutating func meet(_ sender: Int, _ target: Int) -> [Int] {
        guard sender != target, limits.perPeer > 0, !know(sender, target) else { return [] }
        var forgotten: [Int] = []
        if count >= limits.total {
            guard let oldest = partners[sender]?.first else { return [] }
            forget(sender, oldest)
            forgotten.append(oldest)
        }
        for peer in [sender, target] {
            guard let known = partners[peer], known.count >= limits.perPeer, let oldest = known.first else { continue }
            forget(peer, oldest)
            forgotten.append(oldest)
        }
        partners[sender, default: []].append(target)
        partners[target, default: []].append(sender)
        count += 1
        return forgotten
    }

    /// Forgets all of a peer's acquaintances. Returns them.
    mutating func forgetAll(of peer: Int) -> [Int] {
        let known = of(peer)
        for other in known { forget(peer, other) }
        return known
    }

    private mutating func forget(_ one: Int, _ other: Int) {
        remove(other, from: one)
        remove(one, from: other)
        count -= 1
        version &+= 1
    }

    private mutating func remove(_ other: Int, from peer: Int) {
        partners[peer]?.removeAll { $0 == other }
        if partners[peer]?.isEmpty == true { partners[peer] = nil }
    }
}
