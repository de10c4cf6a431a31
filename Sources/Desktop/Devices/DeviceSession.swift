import Commands
import Peering

/// Everything that the desktop keeps in memory of one paired device, beside its record. Forgetting a device is removing
/// this value.
///
/// Each part belongs to one unit; no other changes it.
struct DeviceSession: Sendable {
    /// Set when the device is unpaired (``CommandServer``).
    let revocation = RevocationFlag()
    /// What the device has still to get (``OutboxSender``).
    var outbox: DeviceOutbox
    /// The newest of that, in memory (``OutboxSender``).
    var recent = RecentPushes()
    /// The pushes whose callers wait for this device (``OutboxSender``).
    var deliveries = PendingDeliveries()
    /// How far our clock is ahead of the device's.
    var clockLead = ClockLead()
    var lastSeen = LastSeen()

    init(_ outbox: DeviceOutbox) { self.outbox = outbox }

    mutating func apply<T>(_ change: (inout DeviceSession) -> T) -> T { change(&self) }
}
