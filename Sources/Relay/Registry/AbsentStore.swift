/// What is kept for peers that are not there (protocol.md 1): in memory, the newest frames of each, for a while.
///
/// Frames leave when they were written to the peer's new connection, when they are too old, or when newer ones for the
/// same peer need their place. One peer's frames never push out another's: when the whole store is full, new frames are
/// not kept.
struct AbsentStore {
    struct Limits {
        var peers: Int
        var framesPerPeer: Int
        var bytesPerPeer: Int
        var bytes: Int
        /// Milliseconds.
        var age: UInt64
    }

    struct StoredFrame {
        /// As it would have been routed: for a `message`, with `from` and `timestamp`.
        let bytes: [UInt8]
        let storedAt: Moment
        /// Only for a registration that was proved (protocol.md 4.1).
        let isSealed: Bool
        /// The delivery that it is on its way with; 0 = none.
        fileprivate(set) var delivery: UInt64 = 0
    }

    /// Frames on their way to a peer that has come.
    struct Delivery {
        /// Rising over the whole store.
        let number: UInt64
        let frames: [StoredFrame]
    }

    private struct Queue {
        var frames: [StoredFrame] = []
        var bytes = 0
    }

    private let limits: Limits
    private var queues: [Int: Queue] = [:]
    private var nextDelivery: UInt64 = 1
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

    func isEmpty(for peer: Int) -> Bool { queues[peer] == nil }

    /// Keeps a frame, or counts it as refused. Returns whether it was kept.
    @discardableResult
    mutating func keep(_ frame: [UInt8], for peer: Int, isSealed: Bool = false, at moment: Moment) -> Bool {
        let cost = frame.count + Self.overhead
        var queue = queues[peer] ?? Queue()
        guard cost <= limits.bytesPerPeer, limits.framesPerPeer > 0, queues[peer] != nil || queues.count < limits.peers
        else {
            refused += 1
            return false
        }
        // Only what this peer already has can make room: count first, then drop.
        var dropped = 0
        var droppedBytes = 0
        while dropped < queue.frames.count,
            queue.frames.count - dropped >= limits.framesPerPeer
                || queue.bytes - droppedBytes + cost > limits.bytesPerPeer
                || byteCount - droppedBytes + cost > limits.bytes
        {
            droppedBytes += queue.frames[dropped].bytes.count + Self.overhead
            dropped += 1
        }
        guard byteCount - droppedBytes + cost <= limits.bytes else {
            refused += 1
            return false
        }
        // Taken out while it changes, so that its array is not copied.
        queues[peer] = nil
        queue.frames.removeFirst(dropped)
        queue.frames.append(StoredFrame(bytes: frame, storedAt: moment, isSealed: isSealed))
        queue.bytes += cost - droppedBytes
        queues[peer] = queue
        frameCount += 1 - dropped
        byteCount += cost - droppedBytes
        displaced += UInt64(dropped)
        return true
    }

    /// What is to be sent to a peer that has come, oldest first, without what is on its way already. All of it stays
    /// in the store until ``written(to:through:)``. Sealed frames wait for one who `isProved`.
    mutating func takeForDelivery(to peer: Int, isProved: Bool, at moment: Moment) -> Delivery? {
        dropExpired(of: peer, at: moment)
        guard var queue = queues[peer] else { return nil }
        queues[peer] = nil
        defer { queues[peer] = queue }
        var fresh: [StoredFrame] = []
        for index in queue.frames.indices
        where queue.frames[index].delivery == 0 && (isProved || !queue.frames[index].isSealed) {
            queue.frames[index].delivery = nextDelivery
            fresh.append(queue.frames[index])
        }
        guard !fresh.isEmpty else { return nil }
        defer { nextDelivery += 1 }
        return Delivery(number: nextDelivery, frames: fresh)
    }

    /// The frames of the deliveries up to that one are with the peer's kernel.
    mutating func written(to peer: Int, through delivery: UInt64) {
        drop(of: peer) { $0.delivery > 0 && $0.delivery <= delivery }
    }

    /// The peer's connection ended: what was on its way and is still here must be sent again.
    mutating func deliveryEnded(for peer: Int) {
        guard var queue = queues[peer] else { return }
        queues[peer] = nil
        for index in queue.frames.indices { queue.frames[index].delivery = 0 }
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
        guard var queue = queues[peer] else { return 0 }
        queues[peer] = nil
        var bytes = 0
        let before = queue.frames.count
        queue.frames.removeAll { frame in
            guard isDone(frame) else { return false }
            bytes += frame.bytes.count + Self.overhead
            return true
        }
        let count = before - queue.frames.count
        queue.bytes -= bytes
        frameCount -= count
        byteCount -= bytes
        queues[peer] = queue.frames.isEmpty ? nil : queue
        return count
    }
}
