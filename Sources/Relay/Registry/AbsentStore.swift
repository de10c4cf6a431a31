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
        /// Rising over the whole store.
        let sequence: UInt64
    }

    private struct Queue {
        var frames: [StoredFrame] = []
        var bytes = 0
        /// Frames up to this one are on their way to the peer's connection.
        var sentThrough: UInt64 = 0
    }

    private let limits: Limits
    private var queues: [Int: Queue] = [:]
    private var nextSequence: UInt64 = 1
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
    mutating func keep(_ frame: [UInt8], for peer: Int, at moment: Moment) -> Bool {
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
        queue.frames.append(StoredFrame(bytes: frame, storedAt: moment, sequence: nextSequence))
        queue.bytes += cost - droppedBytes
        queues[peer] = queue
        nextSequence += 1
        frameCount += 1 - dropped
        byteCount += cost - droppedBytes
        displaced += UInt64(dropped)
        return true
    }

    /// What is to be sent to a peer that has come, oldest first, without what is on its way already. All of it stays
    /// in the store until ``written(to:through:)``.
    mutating func takeForDelivery(to peer: Int, at moment: Moment) -> [StoredFrame] {
        dropExpired(of: peer, at: moment)
        guard let queue = queues[peer], let last = queue.frames.last else { return [] }
        let fresh = queue.frames.filter { $0.sequence > queue.sentThrough }
        queues[peer]?.sentThrough = last.sequence
        return fresh
    }

    /// The frames up to that one are with the peer's kernel.
    mutating func written(to peer: Int, through sequence: UInt64) {
        drop(of: peer) { $0.sequence <= sequence }
    }

    /// The peer's connection ended: what was on its way and is still here must be sent again.
    mutating func deliveryEnded(for peer: Int) {
        queues[peer]?.sentThrough = 0
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
    private mutating func drop(of peer: Int, while isDone: (StoredFrame) -> Bool) -> Int {
        guard var queue = queues[peer] else { return 0 }
        let dropped = queue.frames.prefix(while: isDone)
        guard !dropped.isEmpty else { return 0 }
        let bytes = dropped.reduce(0) { $0 + $1.bytes.count + Self.overhead }
        let count = dropped.count
        queue.frames.removeFirst(count)
        queue.bytes -= bytes
        frameCount -= count
        byteCount -= bytes
        queues[peer] = queue.frames.isEmpty ? nil : queue
        return count
    }
}
