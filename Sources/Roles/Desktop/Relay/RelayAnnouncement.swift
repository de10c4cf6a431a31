import SystemServices
import Transport

/// Announces the desktop's relay as `_chainlesschain-signaling._tcp` (Wire, "Relays on the local network").
///
/// Only a hint for devices that know no relay: trust depends on codes and keys alone.
@EventLoop
final class RelayAnnouncement {
    private let publisher: RelayPublisher

    init(on bus: Bus, name: String, port: UInt16, did: String) {
        publisher = RelayPublisher(on: bus) { _ in }
        publisher.publish(name: name, port: port, did: did)
    }

    /// Why it cannot be found, for people.
    var note: String? { publisher.note }

    func stop() { publisher.withdraw() }
}
