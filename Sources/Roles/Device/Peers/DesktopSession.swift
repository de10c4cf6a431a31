import Pairing
import Peering
import Sealing
import Transport
import Wire

/// Everything the device keeps about one paired desktop while it runs, besides its routes and its seal.
struct DesktopSession: Sendable {
    /// When something came from it last, in the loop's milliseconds.
    var lastFrameAt: UInt64?
    var lastSeen = LastSeen()
    /// It has no notification commands over signalling, as far as known since connecting (WireDeployedPeers, "The
    /// desktop app").
    var lacksSkill = false
    /// The newest reported revision of its settings.
    var settingsRevision: Int64?
    /// The queued command that is being sent to it.
    var lane = QueueDrainer.Lane()
    /// What it is offered to seal pushes to.
    var prekeys = PrekeyPublication()
    /// What the inbox asks it.
    var sync = InboxSync()
}

/// The data about a desktop that commands need.
struct DesktopReach: Sendable {
    let desktop: PeerID
    var name = ""
    var isSecure = true
    /// A connection to one of its relays is up.
    var hasRoute = true
    /// Every relay that is up has reported it offline.
    var isAbsent = false
    /// Its relay never says that it is offline, and may deliver a command minutes later.
    var isSilent = false
    var lacksSkill = false
    /// Commands wait for it in the offline queue.
    var isQueueBusy = false
    /// In the loop's milliseconds.
    var lastFrameAt: UInt64?

    var isReachable: Bool { hasRoute && !isAbsent }
}

extension DesktopReach {
    /// `nil` for a desktop that is not paired.
    @EventLoop
    init?(_ peer: PeerID, _ desktops: DesktopBook, _ routes: Routes, isQueueBusy: Bool) {
        guard let desktop = desktops.peers.peer(peer), let session = desktops.peers[peer] else { return nil }
        self.init(
            desktop: peer, name: desktop.name, isSecure: desktop.isSecure,
            hasRoute: routes.bestRoute(of: peer) != nil, isAbsent: routes.isAbsent(peer),
            isSilent: routes.isSilent(peer),
            lacksSkill: session.lacksSkill, isQueueBusy: isQueueBusy, lastFrameAt: session.lastFrameAt)
    }
}
