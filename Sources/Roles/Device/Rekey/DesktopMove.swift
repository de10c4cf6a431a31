import Alerts
import Delivery
import Hosting
import Inbox
import Listing
import OfflineQueue
import Pairing
import Peering
import Sealing
import Signalling
import Store
import Transport
import Wire

/// A desktop takes its new key on this device (WireRekey, "Switch").
///
/// The transaction is submitted first, then memory changes at once: so everything that is submitted later finds the new
/// id in the store.
@EventLoop
struct DesktopMove {
    enum Action {
        /// It has this id now, or again the one before. Gives what was kept about it.
        case replaced(PeerID, by: PairedDesktop, DesktopSession?)
        /// The store has moved it.
        case stored(PeerMove)
        /// What waits in the offline queue is under other ids.
        case queueChanged
    }

    let context: DeviceContext
    let desktops: DesktopBook
    let channel: PeerChannel
    let emit: @EventLoop (Action) -> Void

    func perform(_ move: PeerMove) {
        guard let old = desktops.peers.peer(move.old) else { return }
        var desktop = old
        desktop.address = move.new
        if desktop.pcPeerID == move.old { desktop.pcPeerID = move.new }
        context.store { (connection) throws(StoreError) in
            try Self.store(move, name: old.name, connection)
        } then: { [self] result in
            guard desktops.peers.contains(move.new) else { return }
            if case .success(true) = result {
                emit(.queueChanged)
                channel.moves.stored(move)
                emit(.stored(move))
            } else {
                replace(move.new, by: old)
                channel.unmoved(move)
                // What was queued meanwhile.
                context.store { (connection) throws(StoreError) in
                    try QueueTable(connection).move(move.new, to: move.old)
                } then: { [emit] _ in
                    emit(.queueChanged)
                }
            }
        }
        replace(move.old, by: desktop)
        channel.moved(move)
    }

    private func replace(_ old: PeerID, by desktop: PairedDesktop) {
        emit(.replaced(old, by: desktop, desktops.replace(old, by: desktop)))
    }

    /// `false`: the move was made before, or can't be made, and nothing has changed.
    private nonisolated static func store(
        _ move: PeerMove, name: String, _ connection: Connection
    ) throws(StoreError) -> Bool {
        let (old, new) = (move.old, move.new)
        guard try PeerNumbers(connection).find(new) == nil, try PairedDesktops(connection).find(new) == nil,
            try MoveTables(connection).complete(move, name: name, at: .now)
        else { return false }
        try PairedDesktops(connection).move(old, to: new)
        _ = try PeerNumbers(connection).move(old, to: new)
        try SettingsCache(connection).move(old, to: new)
        try AlertTable(connection).move(old, to: new)
        try KeptEvents(connection).move(old, to: new)
        try PushTokenTable(connection).move(old, to: new)
        try PrekeyTable(connection).forget(old)
        let queue = QueueTable(connection)
        try queue.move(old, to: new)
        // What was being sent under the old key is sent again; the desktop executes each id once.
        var loaded = try queue.load()
        for command in loaded.commands where command.desktop == new && command.isSending {
            try queue.save(
                loaded.unanswered(command.id, QueueFailure("offline", "the desktop has moved"), counts: false))
        }
        return true
    }
}
