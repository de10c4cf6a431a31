/// Names a connection for as long as it lives. Slots are used again; the generation tells the users of one apart.
package struct ConnectionID: Hashable, Sendable {
    let slot: Int
    let generation: UInt32
}

extension ConnectionID {
    @inline(__always)
    init(number: UInt64) {
        self.init(slot: Int(number & 0xFFFF_FFFF), generation: UInt32(truncatingIfNeeded: number >> 32))
    }

    /// Both as one number; there are fewer slots than file descriptors.
    @inline(__always)
    var number: UInt64 { UInt64(generation) << 32 | UInt64(UInt32(truncatingIfNeeded: slot)) }
}

/// A point in time, as the machines get it.
struct Moment: Sendable {
    /// Milliseconds that only go forward: for deadlines and ages.
    var monotonic: UInt64
    /// Epoch milliseconds: for what goes on the wire.
    var epoch: Int64
}
