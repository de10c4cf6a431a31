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
    private let board: DesktopSwitchboard

    init(_ board: DesktopSwitchboard) { self.board = board }

    func perform(_ move: PeerMove) {
        guard !board.isClosed, let old = board.devices[move.old] else { return }
        var device = old
        device.did = move.new
        // A Bellwire device's name for itself is made of its key.
        if old.deviceID == old.did.bellwireDeviceID { device.deviceID = move.new.bellwireDeviceID }
        board.store.move(move, to: device) { [board] result in
            defer { board.commands.settled(move) }
            guard !board.isClosed, board.devices.contains(move.new) else { return }
            switch result {
            case .success(let position?):
                board.outboxes.moved(move.new, position, isOnline: board.routes.isAnyOnline)
                board.channel.moves.stored(move)
                board.channel.sessions?.ask(move.new, over: board.routes.bestLink(to: move.new))
            case .success(nil), .failure:
                replace(move.new, by: old)
                board.channel.unmoved(move)
                if board.routes.isAnyOnline { board.outboxes.connected(move.old) }
            }
        }
        replace(move.old, by: device)
        board.channel.moved(move)
    }

    private func replace(_ old: PeerID, by device: PairedDevice) {
        if let session = board.devices.session(old) { board.outboxes.forget(old, session) }
        board.devices.replace(old, by: device)
        board.commands.moved(old, to: device.did)
        board.pairing.removed(old)
        board.routes.setPeers(board.devices.routed)
        board.host.devices(board.devices.json)
    }
}
