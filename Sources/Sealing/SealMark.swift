package import Wire

/// That a frame came: saved in the transaction of its effect, so that it has an effect once, also after a crash.
///
/// ```swift
/// database.submit { connection throws(StoreError) in
///     guard try SealStates(connection).save(opened.mark) else { return }
///     …
/// }
/// ```
package struct SealMark: Sendable, Equatable {
    package let peer: PeerID
    package let epoch: Int64
    package let seq: Int64
    /// The replay window refuses it. Only a pairing whose MAC proves the frame may save it
    /// (``ReplayWindow/restart(epoch:seq:)``).
    package let isStale: Bool

    package init(peer: PeerID, epoch: Int64, seq: Int64, isStale: Bool = false) {
        self.peer = peer
        self.epoch = epoch
        self.seq = seq
        self.isStale = isStale
    }
}
