import Commands
import Delivery
import History
import Peering
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

    init(_ outbox: DeviceOutbox) { self.outbox = outbox }

    mutating func apply<T>(_ change: (inout DeviceSession) -> T) -> T { change(&self) }
}
