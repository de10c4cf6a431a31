package import Hosting
package import Store
package import Transport
import Wire

/// Refuses keys of peers, and readmits them.
@EventLoop
package protocol KeyRevocation {
    /// Refuses this key from now on; a peer that has it is unpaired.
    func revoke(_ peer: String, then: @escaping Then)
    func readmit(_ peer: String, then: @escaping Then)
}

/// Executes hosts' calls about keys; the same on both sides.
@EventLoop
package struct KeyCalls {
    private let keys: KeyStore
    private let moves: KeyMoves
    private let database: Database
    private let revocation: any KeyRevocation

    package init(_ keys: KeyStore, _ moves: KeyMoves, _ database: Database, _ revocation: any KeyRevocation) {
        (self.keys, self.moves, self.database, self.revocation) = (keys, moves, database, revocation)
    }

    package func execute(_ call: KeyCall, _ then: @escaping Then) {
        switch call {
        case .revoke(let peer): revocation.revoke(peer, then: then)
        case .readmit(let peer): revocation.readmit(peer, then: then)
        case .revoked: RevocationRequest.list(database, then: then)
        case .rekey:
            withKeys(then) { [moves] (keys) throws(HostError) in
                let next = try keys.next()
                EventLoop.post { moves.begin(next, then) }
            }
        case .cancelRekey:
            moves.cancel { [self] result in
                guard case .success = result else { return then(result) }
                withKeys(then) { (keys) throws(HostError) in
                    try keys.dropNext()
                    then(result)
                }
            }
        case .rekeyState: then(.success(HostReply(moves.status)))
        case .confirmRekey(let peer, let key, let accept):
            moves.confirm(PeerID(peer), to: PeerID(key), accept: accept, then)
        }
    }

    /// On a thread of its own: files and the keyring block.
    private nonisolated func withKeys(
        _ then: @escaping Then, _ work: @escaping @Sendable (KeyStore) throws(HostError) -> Void
    ) {
        let code = startThread(named: "bw-key") { [keys] in
            do throws(HostError) { try work(keys) } catch { then(.failure(error)) }
        }
        if code != 0 { then(.failure(HostError(.limit, "cannot start a thread"))) }
    }
}
