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
    private let board: DeviceSwitchboard

    init(_ board: DeviceSwitchboard) { self.board = board }

    func perform(_ move: PeerMove) {
        guard let old = board.desktops.peers.peer(move.old) else { return }
        var desktop = old
        desktop.address = move.new
        if desktop.pcPeerID == move.old { desktop.pcPeerID = move.new }
        board.context.store { (connection) throws(StoreError) in
            try Self.store(move, name: old.name, connection)
        } then: { [board] result in
            guard board.desktops.peers.contains(move.new) else { return }
            if case .success(true) = result {
                board.queue.reload()
                board.channel.moves.stored(move)
                board.tokens.paired(move.new)
                for route in board.routes.routes(of: move.new) {
                    if let link = board.routes.link(route) { board.channel.sessions?.registered(move.new, over: link) }
                }
            } else {
                replace(move.new, by: old)
                board.channel.unmoved(move)
                // What was queued meanwhile.
                board.context.store { (connection) throws(StoreError) in
                    try QueueTable(connection).move(move.new, to: move.old)
                } then: { [board] _ in
                    board.queue.reload()
                }
            }
        }
        replace(move.old, by: desktop)
        board.channel.moved(move)
    }

    private func replace(_ old: PeerID, by desktop: PairedDesktop) {
        let session = board.desktops.replace(old, by: desktop)
        board.pairing.flows.removed(old)
        board.commands.moved(old, to: desktop.id)
        if let session { board.inbox.moved(old, session) }
        board.pushes.moved(old, to: desktop.id)
        board.tokens.forget(old)
        board.tellDesktops()
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
