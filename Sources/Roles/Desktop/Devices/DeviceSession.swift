import Commands
import Delivery
import History
import Peering
import Sealing
import Wire

/// Everything the desktop keeps in memory about one paired device, besides its record. Removing this value forgets the
/// device.
///
/// Each part belongs to one unit, and only that unit changes it.
struct DeviceSession: Sendable {
    /// Set when the device is unpaired (``CommandServer``).
    let revocation = RevocationFlag()
    /// How many commands it may still send now (``CommandServer``).
    var commandTokens = RateLimiter.Bucket()
    /// The same for commands that arrive under another id and claim to be this device's.
    var strangerTokens = RateLimiter.Bucket()
    /// The pushes that it doesn't have yet (``OutboxSender``).
    var outbox: DeviceOutbox
    /// The newest of those, in memory (``OutboxSender``).
    var recent = RecentPushes()
    /// The route over which they are sent (``OutboxSender``).
    var carrier: RouteID?
    /// The pushes whose callers wait for this device (``OutboxSender``).
    var deliveries = PendingDeliveries()
    /// How far it has acknowledged, until the store knows (``OutboxSender``).
    var unsavedAcknowledgement = UnsavedAcknowledgement()
    /// Of which start its acknowledgements are (``OutboxSender``).
    var acknowledgedEpoch = AcknowledgedEpoch()
    /// How far our clock is ahead of the device's.
    var clockLead = ClockLead()
    var lastSeen = LastSeen()
    /// The oldest frame of version 1 that is known to have been sealed since this desktop started, and so were all after it.
    private var provedMark: SealMark?

    init(_ outbox: DeviceOutbox) { self.outbox = outbox }

    /// This frame was sealed since this desktop started: it names this start, or a code of it.
    mutating func prove(_ mark: SealMark) { if !mark.isOfSession, !isProved(mark) { provedMark = mark } }

    func isProved(_ mark: SealMark) -> Bool {
        provedMark.map { ($0.epoch, $0.seq) <= (mark.epoch, mark.seq) } ?? false
    }

    mutating func apply<T>(_ change: (inout DeviceSession) -> T) -> T { change(&self) }
}
