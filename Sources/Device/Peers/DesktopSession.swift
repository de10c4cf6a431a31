import Peering
import Sealing
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

/// What commands need to know of the desktop they go to.
struct DesktopReach: Sendable {
    let desktop: PeerID
    var name = ""
    var isSecure = true
    /// A connection to one of its relays is up.
    var hasRoute = true
    /// Every relay that is up has reported it offline.
    var isAbsent = false
    var lacksSkill = false
    /// Commands wait for it in the offline queue.
    var isQueueBusy = false
    /// In the loop's milliseconds.
    var lastFrameAt: UInt64?

    var isReachable: Bool { hasRoute && !isAbsent }
}
