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
    enum Action {
        /// Nothing in its name counts any more.
        case refused(PeerID)
        /// It is not paired any more, and isn't told.
        case left(PeerID)
        /// It may still believe that it is paired.
        case readmitted(PeerID)
    }

    let own: PeerID
    let life: DesktopLife
    let devices: DeviceBook
    let store: DeviceStore
    let channel: PeerChannel
    let emit: @EventLoop (Action) -> Void

    func revoke(_ id: String, then: @escaping Then) {
        guard !life.isClosed else { return then(.failure(.closed)) }
        let key: PeerID
        do throws(HostError) {
            key = try RevocationRequest.key(id, field: "device", own: own, isPaired: devices.contains)
        } catch {
            return then(.failure(error))
        }
        let device = devices[key]
        // Also those that it may move to: they were approved while its key was believed to be its owner's.
        let keys = [key] + channel.moves.successors(of: key)
        let revoked = keys.map { RevokedKey(id: $0, name: device?.name ?? "", at: .now) }
        let fresh = keys.filter { !channel.isRevoked($0) }
        // Before the disk has it: nothing that comes meanwhile counts. What is kept of it goes once it can't come back.
        for key in keys {
            channel.refuse(key)
            emit(.refused(key))
        }
        let flag = devices.session(key)?.revocation
        flag?.revoke()
        store.revoke(revoked) { [self] result in
            if case .success(true) = result {
                for key in keys { devices.reminders.forget(key) }
                if !life.isClosed, devices.contains(key) { emit(.left(key)) }
                for key in keys { channel.revoke(key) }
                return then(.success(.done))
            }
            for key in fresh { channel.readmit(key) }
            flag?.withdraw()
            switch result {
            case .success: then(.failure(.tooManyRevoked))
            case .failure(let error): then(.failure(HostError(error)))
            }
        }
    }

    func readmit(_ id: String, then: @escaping Then) {
        let key = PeerID(id)
        store.readmit(key) { [self] result in
            switch result {
            case .success(true):
                channel.readmit(key)
                emit(.readmitted(key))
                then(.success(.done))
            case .success(false): then(.failure(.notRevoked))
            case .failure(let error): then(.failure(HostError(error)))
            }
        }
    }
}
