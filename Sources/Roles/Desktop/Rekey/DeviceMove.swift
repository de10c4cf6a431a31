import Delivery
import Hosting
import Pairing
import Peering
import Sealing
import Store
import Transport
import Wire

/// A device takes its new key on this desktop (WireRekey, "Switch").
///
/// The transaction is submitted first, then memory changes at once: so everything that is submitted later finds the new
/// id in the store.
@EventLoop
struct DeviceMove {
    enum Action {
        /// What is kept about the device goes on under this id, or again under the one before.
        case replace(PeerID, by: PairedDevice)
        /// The store has moved it; its outbox is there.
        case stored(PeerMove, Outbox.Position)
        /// The store could not: the device has its old key.
        case failed(PeerMove)
        /// Whichever it was.
        case settled(PeerMove)
    }

    let life: DesktopLife
    let devices: DeviceBook
    let store: DeviceStore
    let channel: PeerChannel
    let emit: @EventLoop (Action) -> Void

    func perform(_ move: PeerMove) {
        guard !life.isClosed, let old = devices[move.old] else { return }
        var device = old
        device.did = move.new
        // A Bellwire device's name for itself is made of its key.
        if old.deviceID == old.did.bellwireDeviceID { device.deviceID = move.new.bellwireDeviceID }
        store.move(move, to: device) { [self] result in
            defer { emit(.settled(move)) }
            guard !life.isClosed, devices.contains(move.new) else { return }
            switch result {
            case .success(let position?): emit(.stored(move, position))
            case .success(nil), .failure:
                emit(.replace(move.new, by: old))
                channel.unmoved(move)
                emit(.failed(move))
            }
        }
        emit(.replace(move.old, by: device))
        channel.moved(move)
    }
}
