import Hosting
import Pairing
import Peering
import Sealing
import Signalling
import Store
import Transport
import Wire

/// Refuses the keys of desktops that were stolen, and readmits them (WireRekey, "Revocation").
@EventLoop
struct DesktopRevocation: KeyRevocation {
    let context: DeviceContext
    let desktops: DesktopBook
    let channel: PeerChannel
    /// Pairings of the key that are under way end.
    let ended: @EventLoop (PeerID) -> Void

    func revoke(_ id: String, then: @escaping Then) {
        let key: PeerID
        do throws(HostError) {
            key = try RevocationRequest.key(
                id, field: "desktop", own: context.did, isPaired: desktops.peers.contains)
        } catch {
            return then(.failure(error))
        }
        let desktop = desktops.peers.peer(key)
        // Also those that it may move to: they were approved while its key was believed to be its owner's.
        let keys = [key] + channel.moves.successors(of: key)
        let revoked = keys.map { RevokedKey(id: $0, name: desktop?.name ?? "", at: .now) }
        let fresh = keys.filter { !channel.isRevoked($0) }
        // Before the disk has it: nothing that comes meanwhile counts. What is kept of it goes once it can't come back.
        for key in keys {
            channel.refuse(key)
            ended(key)
        }
        context.store { (connection) throws(StoreError) in
            guard try RevokedKeys(connection).add(revoked) else { return false }
            _ = try DesktopBook.remove(key, connection)
            return true
        } then: { [desktops, channel] result in
            if case .success(true) = result {
                if let desktop = desktops.peers.peer(key) { desktops.leave([desktop]) }
                for key in keys { channel.revoke(key) }
                return then(.success(.done))
            }
            for key in fresh { channel.readmit(key) }
            then(.failure(result.failure))
        }
    }

    func readmit(_ id: String, then: @escaping Then) {
        let key = PeerID(id)
        context.store { (connection) throws(StoreError) in
            try RevokedKeys(connection).remove(key)
        } then: { [channel] result in
            switch result {
            case .success(true):
                channel.readmit(key)
                then(.success(.done))
            case .success(false): then(.failure(.notRevoked))
            case .failure(let error): then(.failure(HostError(error)))
            }
        }
    }
}

extension Result<Bool, StoreError> {
    fileprivate var failure: HostError {
        switch self {
        case .success: .tooManyRevoked
        case .failure(let error): HostError(error)
        }
    }
}
