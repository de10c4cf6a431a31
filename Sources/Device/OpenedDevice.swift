import Alerts
import Delivery
import Hosting
import Inbox
import OfflineQueue
import Pairing
import Peering
import Store
import Wire

/// What the store had when the device was opened, and what units work with.
struct OpenedDevice: Sendable {
    let context: DeviceContext
    let seal: RoleState.Seal
    let desktops: PeerBook<PairedDesktop, DesktopSession>
    let queue: OfflineQueue
    let tokenRemovals: [PushTokensStateMachine.Removal]
    /// `nil` = they are read when somebody asks for alerts.
    let alerts: AlertCenter.Stored?
    /// Events that the host has not taken.
    let waiting: [HostEvent.Name]

    /// Blocks the caller.
    init(_ options: DeviceOptions, _ state: RoleState, _ channel: HostChannel) throws(StoreError) {
        context = DeviceContext(options: options, key: state.key, database: state.database, channel: channel)
        seal = state.seal
        let desktops: [PairedDesktop]
        let lastPushSeqs: [PeerID: Int64]
        (desktops, waiting, lastPushSeqs) = try state.database.run { (connection) throws(StoreError) in
            // A device reads little at a time, and shares its memory with the program that embeds it.
            _ = try connection.first("PRAGMA cache_size = -128") { (row) throws(StoreError) in try row.integer(0) }
            let inbox = Inbox(connection)
            _ = try inbox.recoverDispatching()
            let kept = KeptEvents(connection)
            var waiting: [HostEvent.Name] = try inbox.waitingForHost() > 0 ? [.notificationReceived] : []
            for name in KeptEvents.names {
                try kept.recover(name)
                if try kept.count(name) > 0 { waiting.append(name) }
            }
            return (try PairedDesktops(connection).all(), waiting, try ReceivedPushes(connection).all())
        }
        let showsAlerts = options.alerts.kind != .none
        let revisions: [PeerID: Int64]
        (queue, revisions, tokenRemovals, alerts) = try state.database.run { (connection) throws(StoreError) in
            let table = QueueTable(connection)
            var queue = try table.load()
            try table.save(queue.recover())
            try Inbox(connection).recoverChanges(queued: Set(queue.commands.map(\.id)))
            return (
                queue, try table.revisions(), try PushTokenTable(connection).removals(),
                showsAlerts ? try AlertCenter.Stored.load(connection) : nil
            )
        }
        self.desktops = PeerBook(desktops) { desktop in
            var session = DesktopSession()
            session.settingsRevision = revisions[desktop.id]
            session.lastPushSeq = lastPushSeqs[desktop.id]
            return session
        }
    }
}
