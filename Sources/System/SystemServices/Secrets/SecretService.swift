import Transport

/// Secrets in the keyring of the user's session: `org.freedesktop.secrets`, as GNOME Keyring, KWallet and KeePassXC
/// offer it.
///
/// Each call has a connection of its own and blocks for at most ``limitMilliseconds``: it is for a thread of the host's,
/// never for the loop's. A keyring that is locked is unlocked if that takes no dialogue; else the error is
/// ``SecretServiceError/Code/locked``, and the host asks its user.
///
/// **What "plain" means.** The session with the service is the "plain" one: the secret crosses the bus unencrypted. The
/// bus is a local socket that only this user (and root) can open, so nobody learns more than could be had from the
/// keyring itself; whoever may watch the bus of the session, any program of the same user, could also ask the keyring.
/// At rest, the keyring encrypts.
package struct SecretService: Sendable {
    /// The longest secret, in bytes.
    package static let maximumSecret = 256
    /// How long one call takes at most, in milliseconds.
    package static let limitMilliseconds: UInt64 = 5_000

    private let address: BusAddress
    private let library: SystemdLibrary
    private let limit: UInt64

    /// `address`: the session bus, as ``BusAddress/session()`` gives it.
    package init(
        _ address: BusAddress, within limit: UInt64 = Self.limitMilliseconds, library: SystemdLibrary = .shared
    ) {
        self.address = address
        self.limit = limit
        self.library = library
    }

    /// Keeps a secret, in place of one with these attributes. `label` is what people see in their keyring program.
    package func store(
        _ secret: SecretBytes, label: String, attributes: SecretAttributes
    ) throws(SecretServiceError) {
        guard secret.count <= Self.maximumSecret else {
            throw SecretServiceError(.invalid, "a secret for the keyring must have at most \(Self.maximumSecret) bytes")
        }
        let keyring = try open(attributes)
        let collection = try keyring.unlockedCollection()
        try keyring.create(secret, label: label, attributes: attributes, in: collection)
    }

    /// The secret with these attributes; `nil` only if there is none. A keyring that is locked, and could have it, is
    /// an error.
    package func lookUp(_ attributes: SecretAttributes) throws(SecretServiceError) -> SecretBytes? {
        let keyring = try open(attributes)
        if let item = try keyring.firstItem(attributes) { return try keyring.secret(of: item) }
        // A locked keyring may not tell what is in it.
        _ = try keyring.unlockedCollection()
        guard let item = try keyring.firstItem(attributes) else { return nil }
        return try keyring.secret(of: item)
    }

    /// Deletes what has these attributes. Whether there was any.
    @discardableResult
    package func delete(_ attributes: SecretAttributes) throws(SecretServiceError) -> Bool {
        let keyring = try open(attributes)
        _ = try keyring.unlockedCollection()
        let items = try keyring.items(attributes)
        for item in items { try keyring.delete(item) }
        return !items.isEmpty
    }

    private func open(_ attributes: SecretAttributes) throws(SecretServiceError) -> Keyring {
        guard !EventLoop.isCurrent else {
            throw SecretServiceError(.invalid, "cannot wait for the keyring on the event loop")
        }
        guard !attributes.isTooLong else {
            throw SecretServiceError(.invalid, "the path of the state directory is too long for the keyring")
        }
        do {
            return try Keyring(BlockingBus(to: address, within: limit, library: library))
        } catch {
            throw SecretServiceError(error)
        }
    }
}
