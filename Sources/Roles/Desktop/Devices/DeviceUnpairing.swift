import Hosting
import Pairing
import Peering
import Signalling
import Store
import Transport
import Wire

/// Ends pairings, in memory at once and then in the store.
@EventLoop
struct DeviceUnpairing {
    enum Action {
        /// From now on they are strangers, and hear so.
        case leaving([PairedDevice], everybody: Bool)
        /// They are still in the store: as they are listed, it can be tried again.
        case stayed([PairedDevice])
    }

    let life: DesktopLife
    let devices: DeviceBook
    let store: DeviceStore
    let emit: @EventLoop (Action) -> Void

    func unpair(_ device: PeerID, then: @escaping Then) {
        guard !life.isClosed else { return then(.failure(.closed)) }
        guard let device = devices[device] else { return then(.failure(.noSuchDevice)) }
        unpair([device], everybody: false, then)
    }

    func unpairAll(then: @escaping Then) {
        guard !life.isClosed else { return then(.failure(.closed)) }
        unpair(devices.all, everybody: true, then)
    }

    private func unpair(_ gone: [PairedDevice], everybody: Bool, _ then: @escaping Then) {
        emit(.leaving(gone, everybody: everybody))
        store.unpair(gone, everybody: everybody) { [emit] result in
            guard case .failure(let error) = result else { return then(.success(.done)) }
            emit(.stayed(gone))
            then(.failure(HostError(error)))
        }
    }
}
