import Wire

/// Those whose plain ack a person has declined, or left without an answer, on one offer.
///
/// Six digits are soon known to others: each sender is asked about once, and after a few nobody is any more.
struct RefusedSenders: Sendable, Equatable {
    private var peers: Set<PeerID> = []

    /// May a person be asked about this peer's plain ack?
    func mayAsk(_ peer: PeerID) -> Bool {
        peers.count < DesktopOfferStateMachine.plainRefusalLimit && !peers.contains(peer)
    }

    mutating func add(_ peer: PeerID) { peers.insert(peer) }
}
