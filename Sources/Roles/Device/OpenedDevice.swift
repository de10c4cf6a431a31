import Alerts
import Delivery
import DeviceAlerts
import Hosting
import Inbox
import OfflineQueue
import Pairing
import Peering
import Sharing
import Signalling
import Store
import Wire

/// The stored state of a device when it is opened, and the stores that its units use.
struct OpenedDevice: Sendable {
    let context: DeviceContext
    let seal: RoleState.Seal
    let desktops: PeerBook<PairedDesktop, DesktopSession>
    let waitingPushes: WaitingPushes
    /// The number of each sealed desktop's last stored push (WireSealing, "Delivery of pushes").
    let committedPushes: [(PeerID, Int64)]
    let queue: OfflineQueue
    let tokenRemovals: [PushTokensStateMachine.Removal]
    /// A push service may have a token of the program's.
    let hasTokens: Bool
    /// `nil` = they are read when alerts are first used.
    let alerts: StoredAlertState?
    /// Takes the stored events of a device that programs share.
    let spool: EventSpool?
    /// Events that the host has not taken.
    let waiting: [HostEvent.Name]

    /// Blocks the caller.
    ///
    /// - Parameter spool: see ``spool``; `nil` = the program has the device to itself.
    init(
        _ options: DeviceOptions, _ state: RoleState, _ channel: HostChannel, _ spool: EventSpool?
    ) throws(StoreError) {
        self.spool = spool
        context = DeviceContext(options: options, key: state.key, database: state.database, channel: channel)
        seal = state.seal
        let desktops: [PairedDesktop]
        let marks: Inbox.Watermarks
        let lastPushes: [PeerID: Int64]
        let isShared = spool != nil
        (desktops, waiting, marks, lastPushes) = try state.database.run { (connection) throws(StoreError) in
            // A device shares its memory with the program that embeds it. This much holds the pages that every push
            // touches, beside 100,000 unread rows too.
            _ = try connection.first("PRAGMA cache_size = -256") { (row) throws(StoreError) in try row.integer(0) }
            let inbox = Inbox(connection)
            try inbox.counts.repair()
            if isShared { try inbox.programs.adopt() }
            let marks = try inbox.handover.watermarks()
            let kept = KeptEvents(connection)
            var waiting: [HostEvent.Name] = marks.waiting > 0 ? [.notificationReceived] : []
            for name in KeptEvents.names {
                try kept.recover(name)
                if try kept.count(name) > 0 { waiting.append(name) }
            }
            return (try PairedDesktops(connection).all(), waiting, marks, try ReceivedPushes(connection).all())
        }
        waitingPushes =
            isShared
            ? WaitingPushes(shared: state.database, last: marks.last)
            : WaitingPushes(
                state.database, marks, mark: state.directory.file("device.handed").flatMap { HandoverMark(path: $0) })
        committedPushes = lastPushes.map { ($0.key, $0.value) }
        let showsAlerts = options.alerts.kind != .none
        let secure = Set(desktops.filter { $0.isSecure }.map { $0.id })
        let revisions: [PeerID: Int64]
        (queue, revisions, tokenRemovals, hasTokens, alerts) = try state.database.run {
            (connection) throws(StoreError) in
            let isInUse = try PushTokenTable(connection).isInUse()
            let prekeys = PrekeyTable(connection)
            try prekeys.prune(now: .now)
            // The run before may have ended in between.
            if !isInUse { try prekeys.removeUnused() }
            try QueueBounds(connection: connection).adopt(secure)
            let table = QueueTable(connection)
            var queue = try table.load()
            try table.save(queue.recover())
            try Inbox(connection).changes.recover(queued: Set(queue.commands.map(\.id)))
            return (
                queue, try table.revisions(), try PushTokenTable(connection).removals(),
                isInUse, showsAlerts ? try StoredAlertState(connection) : nil
            )
        }
        self.desktops = PeerBook(desktops) { desktop in
            var session = DesktopSession()
            session.settingsRevision = revisions[desktop.id]
            return session
        }
    }
}

extension RoleState.Rescue {
    /// The inbox, what waits for the program or for a desktop, and what the user has set. What each desktop has beyond
    /// the inbox is asked for again.
    static let device = RoleState.Rescue(
        copy: "device.pairings",
        copied: [
            CopiedTable(
                "paired_desktop", .grants,
                """
                address, pc_peer_id, name, platform, lan_signaling_url, relay_url, paired_at, last_seen_at, secure, sas, \
                confirmed
                """,
                values: """
                    address, pc_peer_id, name, platform, lan_signaling_url, relay_url, paired_at, paired_at, secure, sas, \
                    confirmed
                    """)
        ],
        salvaged: [
            "peer", "inbox", "push_count", "application", "inbox_program", "inbox_change",
            "inbox_touched", "desktop_settings",
            "queued_command", "known_revision", "kept_event", "reminder", "alert", "alert_beyond", "alert_preference",
            "alert_image", "push_service", "push_token_removal",
        ],
        // Where the replay window is lost, frames of version 1 could be replayed: sessions alone count. Without the marks
        // of what was handed over, callbacks may have seen everything.
        settling: """
            INSERT INTO seal_peer (peer, minimum) SELECT address, 2 FROM paired_desktop
                WHERE secure = 1 AND address NOT IN (SELECT peer FROM seal_window)
                ON CONFLICT (peer) DO UPDATE SET minimum = 2;
            UPDATE push_count SET last = (SELECT ifnull(max(arrival), 0) FROM inbox),
                offered = (SELECT ifnull(max(arrival), 0) FROM inbox) WHERE peer = 0 AND last = 0;
            """)
}
