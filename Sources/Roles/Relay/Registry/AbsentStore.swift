/// The stored frames of absent peers: in memory, the newest of each peer, for a while (Wire, "Absent peers").
///
/// Frames leave when they were written to the peer's new connection, when they are too old, or when newer ones for the
/// same peer need the space. One peer's frames never displace another's: if the store is full, new frames are not kept.
///
/// No sender can fill the store alone: the unproved registrations of one network have at most a quarter of its bytes
/// and of its absent peers. Beyond that a network displaces its own frames for the same peer, or is refused.
struct AbsentStore {
    typealias Source = AbsentQueue.Source
    typealias StoredFrame = AbsentQueue.Frame

    struct Limits {
        var peers: Int
        var framesPerPeer: Int
        var bytesPerPeer: Int
        var bytes: Int
        /// Milliseconds.
        var age: UInt64

        /// Of one network.
        var bytesPerNetwork: Int { bytes / 4 }
        /// Of one network: for so many it may have something here.
        var peersPerNetwork: Int { max(1, peers / 4) }
    }

    /// Frames on their way to a peer that has come.
    struct Delivery {
        /// Rising over the whole store.
        let number: UInt64
        let frames: [StoredFrame]
    }

    /// What one who keeps the frames as well has to do.
    enum Change {
        case kept(StoredFrame, for: Int)
        /// It reached its peer, or gave its place up.
        case gone(Int64)
    }

    /// What one network has here, over all peers.
    private struct Share {
        var peers = 0
        var bytes = 0
    }

    var limits: Limits
    private var queues: [Int: AbsentQueue] = [:]
    private var shares: [Int: Share] = [:]
    private var nextDelivery: UInt64 = 1
    private var nextSequence: Int64 = 1
    /// Since they were last taken; `nil` = changes are not recorded.
    private var changes: [Change]?
    private(set) var frameCount = 0
    private(set) var byteCount = 0
    /// Frames that were pushed out by newer ones.
    private(set) var displaced: UInt64 = 0
    private(set) var expired: UInt64 = 0
    /// Frames that found no place.
    private(set) var refused: UInt64 = 0

    init(limits: Limits) { self.limits = limits }

    var peerCount: Int { queues.count }
    /// What a frame costs beyond its bytes: the array's header and its place in the queue.
    static let overhead = 64

    static func cost(of count: Int) -> Int { count + overhead }

    func isEmpty(for peer: Int) -> Bool { queues[peer] == nil }

    func queue(of peer: Int) -> AbsentQueue? { queues[peer] }

    /// Has the network sent something that is still here?
    func holds(_ network: Int) -> Bool { shares[network] != nil }

    /// The place of a frame that may be kept later: before all that come after this call.
    mutating func reserveSequence() -> Int64 {
        defer { nextSequence += 1 }
        return nextSequence
    }

    /// Keeps a frame, or counts it as refused. Returns whether it was kept.
    ///
    /// - Parameter sequence: its place, from ``reserveSequence()``; `nil` = behind all others.
    @discardableResult
    mutating func keep(
        _ frame: [UInt8], for peer: Int, from source: Source, isSealed: Bool = false, sequence: Int64? = nil,
        at moment: Moment
    ) -> Bool {
        let place = if let sequence { sequence } else { reserveSequence() }
        return keep(StoredFrame(frame, place, from: source, isSealed: isSealed, at: moment), for: peer)
    }

    private mutating func keep(_ frame: StoredFrame, for peer: Int) -> Bool {
        // Taken out while it changes, so that its array is not copied.
        let isNew = queues[peer] == nil
        var queue = queues.removeValue(forKey: peer) ?? AbsentQueue()
        let before = Totals(queue, isTelling: changes != nil)
        defer { put(queue, for: peer, insteadOf: before) }
        guard !isNew || queues.count < limits.peers, makeRoom(in: &queue, frame.cost, from: frame.source)
        else {
            refused += 1
            return false
        }
        displaced += UInt64(before.frames - queue.frames.count)
        queue.insert(frame)
        return true
    }

    // MARK: Kept elsewhere as well

    /// Tells of all changes from now on.
    mutating func startTelling() { changes = [] }

    var hasChanges: Bool { changes?.isEmpty == false }

    mutating func takeChanges() -> [Change] {
        guard let taken = changes else { return [] }
        changes = []
        return taken
    }

    /// Keeps a frame that was kept before, unless there is no place; then that is told. Frames come in the order of
    /// their sequences.
    mutating func restore(
        _ frame: [UInt8], _ sequence: Int64, for peer: Int, from source: Source, _ isSealed: Bool, at moment: Moment
    ) {
        nextSequence = max(nextSequence, sequence &+ 1)
        if !keep(StoredFrame(frame, sequence, from: source, isSealed: isSealed, at: moment), for: peer) {
            changes?.append(.gone(sequence))
        } else if changes != nil {
            // The other one has it.
            changes?.removeLast()
        }
    }

    /// When the oldest frame was stored, in epoch milliseconds. Looks at every peer.
    var oldest: Int64? { queues.values.lazy.compactMap { $0.frames.first?.storedAt.epoch }.min() }

    /// Makes room for one more frame: only what this peer already has can go. `false` = there is none, and nothing went.
    private func makeRoom(in queue: inout AbsentQueue, _ cost: Int, from source: Source) -> Bool {
        guard cost <= limits.bytesPerPeer, limits.framesPerPeer > 0 else { return false }
        let own = queue.holding(of: source)
        // What is left by all that is kept for other peers: to this peer, and to the source.
        let room = min(limits.bytesPerPeer, limits.bytes - (byteCount - queue.bytes))
        var ownRoom = Int.max
        if case .network(let network) = source {
            let share = shares[network] ?? Share()
            guard own != nil || share.peers < limits.peersPerNetwork else { return false }
            ownRoom = limits.bytesPerNetwork - (share.bytes - (own?.bytes ?? 0))
        }
        var untouched: AbsentQueue?
        while true {
            let loser: Source?
            if (queue.holding(of: source)?.bytes ?? 0) + cost > ownRoom {
                loser = source
            } else if queue.frames.count >= limits.framesPerPeer {
                loser = queue.loser(for: source, 1) { $0.frames }
            } else if queue.bytes + cost > room {
                loser = queue.loser(for: source, cost) { $0.bytes }
            } else {
                return true
            }
            if untouched == nil { untouched = queue }
            guard let loser, queue.removeOldest(of: loser) else {
                queue = untouched ?? queue
                return false
            }
        }
    }

    /// The frames to send to a peer that has registered, oldest first, without those already being sent. All stay in
    /// the store until ``written(to:through:)``. Sealed frames wait for a peer that `isProved`.
    mutating func takeForDelivery(to peer: Int, isProved: Bool, at moment: Moment) -> Delivery? {
        dropExpired(of: peer, at: moment)
        guard var queue = queues.removeValue(forKey: peer) else { return nil }
        defer { queues[peer] = queue }
        let fresh = queue.take(for: nextDelivery, isProved: isProved)
        guard !fresh.isEmpty else { return nil }
        defer { nextDelivery += 1 }
        return Delivery(number: nextDelivery, frames: fresh)
    }

    /// The frames of the deliveries up to that one are with the peer's kernel.
    mutating func written(to peer: Int, through delivery: UInt64) {
        drop(of: peer) { $0.delivery > 0 && $0.delivery <= delivery }
    }

    /// A delivery to another relay has ended: these of its frames are with the peer, the others must be sent again.
    mutating func deliveryEnded(for peer: Int, number: UInt64, written: Set<Int64>) {
        drop(of: peer) { $0.delivery == number && written.contains($0.sequence) }
        guard var queue = queues.removeValue(forKey: peer) else { return }
        queue.deliveryEnded(number)
        queues[peer] = queue
    }

    /// The peer's connection ended: what was on its way and is still here must be sent again.
    mutating func deliveryEnded(for peer: Int) {
        guard var queue = queues.removeValue(forKey: peer) else { return }
        queue.deliveryEnded()
        queues[peer] = queue
    }

    /// Drops what is too old. Returns the peers for which nothing is left.
    mutating func expire(at moment: Moment) -> [Int] {
        Array(queues.keys).filter { peer in
            dropExpired(of: peer, at: moment)
            return queues[peer] == nil
        }
    }

    private mutating func dropExpired(of peer: Int, at moment: Moment) {
        let age = limits.age
        expired += UInt64(drop(of: peer) { moment.monotonic &- $0.storedAt.monotonic >= age })
    }

    @discardableResult
    private mutating func drop(of peer: Int, where isDone: (StoredFrame) -> Bool) -> Int {
        guard var queue = queues.removeValue(forKey: peer) else { return 0 }
        let before = Totals(queue, isTelling: changes != nil)
        defer { put(queue, for: peer, insteadOf: before) }
        return queue.removeAll(where: isDone)
    }

    /// What a queue came to, before it was changed.
    private struct Totals {
        let frames: Int
        let bytes: Int
        let holdings: [AbsentQueue.Holding]
        /// Only if changes are told.
        let sequences: [Int64]

        init(_ queue: AbsentQueue, isTelling: Bool) {
            sequences = isTelling ? queue.frames.map(\.sequence) : []
            frames = queue.frames.count
            bytes = queue.bytes
            holdings = queue.holdings
        }
    }

    /// Puts a changed queue back; what is counted over all peers follows.
    private mutating func put(_ queue: AbsentQueue, for peer: Int, insteadOf before: Totals) {
        if !queue.frames.isEmpty { queues[peer] = queue }
        frameCount += queue.frames.count - before.frames
        byteCount += queue.bytes - before.bytes
        for holding in queue.holdings { count(holding, peers: 1, bytes: holding.bytes) }
        for holding in before.holdings { count(holding, peers: -1, bytes: -holding.bytes) }
        guard changes != nil else { return }
        // Both rise.
        var old = before.sequences[...]
        for frame in queue.frames {
            while let sequence = old.first, sequence < frame.sequence {
                old.removeFirst()
                changes?.append(.gone(sequence))
            }
            if old.first == frame.sequence { old.removeFirst() } else { changes?.append(.kept(frame, for: peer)) }
        }
        for sequence in old { changes?.append(.gone(sequence)) }
    }

    private mutating func count(_ holding: AbsentQueue.Holding, peers: Int, bytes: Int) {
        guard case .network(let network) = holding.source else { return }
        var share = shares[network] ?? Share()
        share.peers += peers
        share.bytes += bytes
        shares[network] = share.peers > 0 ? share : nil
    }
}
