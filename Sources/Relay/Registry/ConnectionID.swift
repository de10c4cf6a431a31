/// Names a connection for as long as it lives. Slots are used again; the generation tells the users of one apart.
struct ConnectionID: Hashable, Sendable {
    let slot: Int
    let generation: UInt32
}

/// A point in time, as the machines get it.
struct Moment: Sendable {
    /// Milliseconds that only go forward: for deadlines and ages.
    var monotonic: UInt64
    /// Epoch milliseconds: for what goes on the wire.
    var epoch: Int64
}
