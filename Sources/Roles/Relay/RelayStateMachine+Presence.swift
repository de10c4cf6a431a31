extension RelayStateMachine {
    /// Tells those that the peer has exchanged frames with that it has come (`registration`) or gone.
    func announce(_ peer: Int, _ registration: Registration?, at moment: Moment, _ actions: inout [Action]) {
        let watchers = acquaintances.mutual(of: peer).compactMap { peers.registration(of: $0) }
        guard !watchers.isEmpty else { return }
        let frame = RelayFrame.peerStatus(peers.name(of: peer), registration?.device, at: moment)
        for watcher in watchers { actions.append(.send(to: watcher.connection, frame)) }
    }

    /// `get-peers`: those online that the asker has exchanged frames with. A stranger gets an empty list.
    mutating func listPeers(for id: ConnectionID, at moment: Moment) -> FrameAction {
        guard case .registered(let asker) = connections[id.slot].state else {
            return refuse(id, .notRegistered, at: moment)
        }
        let known = acquaintances.mutual(of: asker).compactMap { peer in
            whereabouts(of: peer).map { (name: peers.name(of: peer), at: $0) }
        }
        return .perform([.send(to: id, RelayFrame.peersList(known, at: moment))])
    }

    /// `peer-status` as a question: with a `peerId` about that peer, else as `get-peers`. A peer that
    /// has not sent anything to the asker is offline to it.
    mutating func tellStatus(
        _ bytes: UnsafeRawBufferPointer, _ envelope: Envelope, to id: ConnectionID, at moment: Moment
    ) -> FrameAction {
        guard !envelope.peerID.isAbsent else { return listPeers(for: id, at: moment) }
        guard case .registered(let asker) = connections[id.slot].state else {
            return refuse(id, .notRegistered, at: moment)
        }
        guard let name = name(in: bytes, envelope.peerID) else { return refuse(id, .badPeerID, at: moment) }
        let peer = name.withUnsafeBytes { peers.find($0) }
        let isKnown = peer.map { $0 == asker || acquaintances.areMutual(asker, $0) } ?? false
        let found = isKnown ? peer.flatMap { whereabouts(of: $0) } : nil
        let answer = RelayFrame.peerStatus(name, found?.device, isAnswer: true, at: moment)
        return .perform([.send(to: id, answer)])
    }
}
