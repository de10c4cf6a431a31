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
    private let board: DesktopSwitchboard

    init(_ board: DesktopSwitchboard) { self.board = board }

    func unpair(_ device: PeerID, then: @escaping Then) {
        guard !board.isClosed else { return then(.failure(.closed)) }
        guard let device = board.devices[device] else { return then(.failure(.noSuchDevice)) }
        unpair([device], everybody: false, then)
    }

    func unpairAll(then: @escaping Then) {
        guard !board.isClosed else { return then(.failure(.closed)) }
        board.pairing.removedAll(board.devices.ids)
        unpair(board.devices.all, everybody: true, then)
    }

    private func unpair(_ gone: [PairedDevice], everybody: Bool, _ then: @escaping Then) {
        for device in gone where device.isSecure {
            // It may have switched to another key in the meantime.
            for id in [device.did] + board.channel.moves.successors(of: device.did) { board.remind(id) }
        }
        for device in gone { board.forget(device.did) }
        if !gone.isEmpty { board.host.devices(board.devices.json) }
        board.store.unpair(gone, everybody: everybody) { [board] result in
            guard case .failure(let error) = result else { return then(.success(.done)) }
            // They are still in the store: as they are listed, it can be tried again.
            for device in gone { board.take(device) }
            if !board.isClosed { board.host.devices(board.devices.json) }
            then(.failure(HostError(error)))
        }
    }
}
