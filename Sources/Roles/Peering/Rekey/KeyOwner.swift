package import Hosting
package import Identity
import JSON
import Wire
import Transport

/// A role whose host can replace its key and refuse those of peers (WireRekey, "Overview").
package protocol KeyOwner: Role {
    var keys: KeyStore { get }
    @EventLoop var moves: KeyMoves { get }

    /// Refuses this key from now on; a peer that has it is unpaired.
    func revoke(_ peer: String, then: @escaping Then)

    func readmit(_ peer: String, then: @escaping Then)

    /// The refused keys.
    func revoked(then: @escaping Then)
}

extension KeyOwner {
    /// The key to move to: made, or the one that was made before. Blocks the caller.
    package func nextKey() throws(HostError) -> SigningKey { try keys.next() }

    /// Asks every peer's user to accept that key in the place of this one.
    package func rekey(to next: SigningKey, then: @escaping Then) {
        EventLoop.post { [self] in moves.begin(next, then) }
    }

    /// The same, to the key of ``nextKey()``. Blocks the caller.
    package func rekey(then: @escaping Then) {
        do throws(HostError) { rekey(to: try nextKey(), then: then) } catch { then(.failure(error)) }
    }

    package func cancelRekey(then: @escaping Then) {
        EventLoop.post { [self] in moves.cancel(then) }
    }

    /// Deletes the key of a move that was cancelled. Blocks the caller.
    package func dropNextKey() throws(HostError) { try keys.dropNext() }

    /// Both, with the second on a thread of its own: the loop must not wait for the keyring.
    package func cancelRekeyAndKey(then: @escaping Then) {
        cancelRekey { [self] result in
            guard case .success = result else { return then(result) }
            let code = startThread(named: "bw-key") { [self] in
                do throws(HostError) {
                    try dropNextKey()
                    then(result)
                } catch { then(.failure(error)) }
            }
            if code != 0 { then(.failure(HostError(.limit, "cannot start a thread"))) }
        }
    }

    package func rekeyState(then: @escaping Then) {
        EventLoop.post { [self] in then(.success(JSONValue.object(moves.status).serialized())) }
    }

    /// The user's answer to a peer that moves to that key.
    package func confirmRekey(_ peer: String, to key: String, _ accept: Bool, then: @escaping Then) {
        EventLoop.post { [self] in moves.confirm(PeerID(peer), to: PeerID(key), accept: accept, then) }
    }
}
