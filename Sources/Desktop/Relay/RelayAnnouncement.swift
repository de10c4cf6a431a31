import SystemServices
import Transport

/// Says on the local network that the desktop's relay is there (protocol.md 1: `_chainlesschain-signaling._tcp`).
///
/// Only a hint for devices that know no relay: who is trusted is decided by codes and keys.
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
