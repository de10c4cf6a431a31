/// Which peers have exchanged frames: what decides who hears of whom (presence, `get-peers`).
///
/// Any peer can send to any other, so only a pair in which both have sent hears of each other. It is never dropped for a
/// one-sided one, and a pair that a peer started itself is never dropped for one that a stranger started with it.
///
/// Bounded: at the limit for one peer its oldest such acquaintance is forgotten; when the whole table is full, a peer can
/// only replace its own. What the unproved registrations of one network have begun takes half of the table at most.
/// Where nothing can go, the new pair is not noted.
struct Acquaintances {
    struct Limits {
        var perPeer: Int
        var total: Int

        /// Of one network.
        var perNetwork: Int { max(1, total / 2) }
    }

    /// One side of a pair.
    private struct Acquaintance {
        let other: Int
        /// Has this side sent something to the other one? And the other to this one?
        var hasSent: Bool
        var hasHeard: Bool
        /// For which the pair is counted; `nil` = who began it had proved its id.
        let network: Int?

        var isMutual: Bool { hasSent && hasHeard }
    }

    var limits: Limits
    /// Each pair stands on both sides, the oldest first.
    private var partners: [Int: [Acquaintance]] = [:]
    private var perNetwork: [Int: Int] = [:]
    private(set) var count = 0
    /// Changes when something is forgotten: a caller that remembers a pair must ask again.
    private(set) var version: UInt32 = 0

    init(limits: Limits) { self.limits = limits }

    func of(_ peer: Int) -> [Int] { partners[peer]?.map(\.other) ?? [] }

    /// Those to whom the peer has sent something, and who have sent it something: only they hear of its presence.
    func mutual(of peer: Int) -> [Int] { partners[peer]?.filter(\.isMutual).map(\.other) ?? [] }

    func areMutual(_ one: Int, _ other: Int) -> Bool {
        place(of: other, with: one).map { partners[one]?[$0].isMutual == true } ?? false
    }

    func know(_ one: Int, _ other: Int) -> Bool { place(of: other, with: one) != nil }

    func isEmpty(for peer: Int) -> Bool { partners[peer] == nil }

    /// Has the network begun a pair that is still here?
    func holds(_ network: Int) -> Bool { perNetwork[network] != nil }

    /// Notes that `sender` has sent something to `target`. Returns whom either of them had to forget for it.
    ///
    /// `network`: that of a sender which has not proved its id.
    mutating func meet(_ sender: Int, _ target: Int, from network: Int?) -> [Int] {
        guard sender != target, limits.perPeer > 0 else { return [] }
        if let place = place(of: target, with: sender) {
            guard partners[sender]?[place].hasSent == false else { return [] }
            partners[sender]?[place].hasSent = true
            if let back = self.place(of: sender, with: target) { partners[target]?[back].hasHeard = true }
            return []
        }
        // Whom both lose is found before either loses anybody.
        var forgotten: [(of: Int, Int)] = []
        let isAtShare = network.map { perNetwork[$0, default: 0] >= limits.perNetwork } ?? false
        if isAtShare || count >= limits.total || isFull(sender) {
            guard let loser = loser(of: sender, where: { !isAtShare || $0.network == network }) else { return [] }
            forgotten.append((sender, loser))
        }
        if isFull(target) {
            guard let loser = loser(of: target, where: { !$0.hasSent }) else { return [] }
            forgotten.append((target, loser))
        }
        for (peer, other) in forgotten { forget(peer, other) }
        partners[sender, default: []].append(
            Acquaintance(other: target, hasSent: true, hasHeard: false, network: network))
        partners[target, default: []].append(
            Acquaintance(other: sender, hasSent: false, hasHeard: true, network: network))
        if let network { perNetwork[network, default: 0] += 1 }
        count += 1
        return forgotten.map { $0.1 }
    }

    /// Forgets all of a peer's acquaintances. Returns them.
    mutating func forgetAll(of peer: Int) -> [Int] {
        let known = of(peer)
        for other in known { forget(peer, other) }
        return known
    }

    private func isFull(_ peer: Int) -> Bool { partners[peer]?.count ?? 0 >= limits.perPeer }

    private func place(of other: Int, with peer: Int) -> Int? {
        partners[peer]?.firstIndex { $0.other == other }
    }

    /// Whom the peer can lose: the oldest of the strangers that have sent to it, else the oldest that it has sent to and
    /// never heard from.
    private func loser(of peer: Int, where mayGo: (Acquaintance) -> Bool) -> Int? {
        guard let known = partners[peer] else { return nil }
        let loser =
            known.first { !$0.hasSent && mayGo($0) } ?? known.first { !$0.isMutual && mayGo($0) }
        return loser?.other
    }

    private mutating func forget(_ one: Int, _ other: Int) {
        guard let place = place(of: other, with: one), let pair = partners[one]?[place] else { return }
        if let network = pair.network, let held = perNetwork[network] {
            perNetwork[network] = held > 1 ? held - 1 : nil
        }
        remove(other, from: one)
        remove(one, from: other)
        count -= 1
        version &+= 1
    }

    private mutating func remove(_ other: Int, from peer: Int) {
        partners[peer]?.removeAll { $0.other == other }
        if partners[peer]?.isEmpty == true { partners[peer] = nil }
    }
}
