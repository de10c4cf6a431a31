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

    package init(peer: PeerID, epoch: Int64, seq: Int64) {
        self.peer = peer
        self.epoch = epoch
        self.seq = seq
    }
}
