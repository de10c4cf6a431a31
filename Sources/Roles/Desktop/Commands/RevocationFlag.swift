import Synchronization

/// Set when a device is unpaired: from then on its commands in progress have no effect.
///
/// The store's thread reads it too.
final class RevocationFlag: Sendable {
    private let flag = Atomic(false)

    var isRevoked: Bool { flag.load(ordering: .acquiring) }

    func revoke() { flag.store(true, ordering: .releasing) }

    /// The device is paired after all: its key could not be refused.
    func withdraw() { flag.store(false, ordering: .releasing) }
}
