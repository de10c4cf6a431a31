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
    /// The sender's start, for what is said about it later; `nil` = it didn't say.
    package let start: Int64?

    package init(peer: PeerID, epoch: Int64, seq: Int64, isStale: Bool = false) {
        self.peer = peer
        self.epoch = epoch
        self.seq = seq
        self.isStale = isStale
        start = epoch
    }

    /// A frame of a session, which opens once by itself: nothing is stored for it. A negative epoch names the session.
    ///
    /// - Parameter start: as the frame names it.
    package init(peer: PeerID, session: SessionID, counter: UInt64, start: Int64? = nil) {
        let bits = session.bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        self.peer = peer
        epoch = -1 - Int64(bits >> 1)
        seq = Int64(clamping: counter) &+ 1
        isStale = false
        self.start = start
    }

    /// Whether its session has judged it: then the store keeps no window for it.
    package var isOfSession: Bool { epoch < 0 }
}
