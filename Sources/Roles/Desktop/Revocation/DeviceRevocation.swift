import Hosting
import Pairing
import Peering
import Sealing
import Signalling
import Store
import Transport
import Wire

/// Refuses the keys of devices that were stolen, and readmits them (WireRekey, "Revocation").
///
/// A revoked device is not told: nothing it sends is answered. A device that was to be reminded that it is unpaired is
/// not reminded any more, until its key is readmitted.
@EventLoop
struct DeviceRevocation: KeyRevocation {
    private let board: DesktopSwitchboard

    init(_ board: DesktopSwitchboard) { self.board = board }

    func revoke(_ id: String, then: @escaping Then) {
        guard !board.isClosed else { return then(.failure(.closed)) }
        let key: PeerID
        do throws(HostError) {
            key = try RevocationRequest.key(id, field: "device", own: board.ownID, isPaired: board.devices.contains)
        } catch {
            return then(.failure(error))
        }
        let device = board.devices[key]
        // Also those that it may move to: they were approved while its key was believed to be its owner's.
        let keys = [key] + board.channel.moves.successors(of: key)
        let revoked = keys.map { RevokedKey(id: $0, name: device?.name ?? "", at: .now) }
        let fresh = keys.filter { !board.channel.isRevoked($0) }
        // Before the disk has it: nothing that comes meanwhile counts. What is kept of it goes once it can't come back.
        for key in keys {
            board.channel.refuse(key)
            board.pairing.removed(key)
        }
        let flag = board.devices.session(key)?.revocation
        flag?.revoke()
        board.store.revoke(revoked) { [board] result in
            if case .success(true) = result {
                for key in keys { board.devices.reminders.forget(key) }
                if !board.isClosed, board.devices.contains(key) { board.left(key) }
                for key in keys { board.channel.revoke(key) }
                return then(.success(.done))
            }
            for key in fresh { board.channel.readmit(key) }
            flag?.withdraw()
            switch result {
            case .success: then(.failure(.tooManyRevoked))
            case .failure(let error): then(.failure(HostError(error)))
            }
        }
    }

    func readmit(_ id: String, then: @escaping Then) {
        let key = PeerID(id)
        board.store.readmit(key) { [board] result in
            switch result {
            case .success(true):
                board.channel.readmit(key)
                // It may still believe that it is paired.
                board.remind(key)
                then(.success(.done))
            case .success(false): then(.failure(.notRevoked))
            case .failure(let error): then(.failure(HostError(error)))
            }
        }
    }
}
