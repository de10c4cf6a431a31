package import Identity
import SystemServices

/// Where a role's key lies, and the one that is to follow it (WireRekey, "Switch").
///
/// For a thread of the host's: files and the keyring block.
package struct KeyStore: Sendable {
    private let options: CommonOptions
    private let directory: StateDirectory

    package init(_ options: CommonOptions, in directory: StateDirectory) {
        (self.options, self.directory) = (options, directory)
    }

    /// The key in use, or a new one.
    package func current() throws(HostError) -> SigningKey {
        try key("identity.key", keyring: options.role)
    }

    /// The next key, or a new one kept beside the key in use.
    ///
    /// Errors: `unsupported` in memory, where nothing outlives this handle.
    package func next() throws(HostError) -> SigningKey {
        guard directory.path != nil else {
            throw HostError(.unsupported, "with \"state_dir\":\":memory:\" the key cannot be changed")
        }
        let (name, role) = ("identity.next.key", "\(options.role)-next")
        let next = try key(name, keyring: role)
        // A keyring is changed in two steps: a process that died between them has left the key in both places.
        guard try next.did == current().did else { return next }
        try dropNext()
        return try key(name, keyring: role)
    }

    /// The next key, if there is one.
    package func storedNext() throws(HostError) -> SigningKey? {
        guard let place = directory.name, let file = directory.file("identity.next.key") else { return nil }
        switch options.keys {
        case .file:
            do throws(IdentityError) { return try SigningKey.load(path: file) } catch { throw HostError(error) }
        case .secretService:
            return try KeyringKey.load(role: "\(options.role)-next", stateDirectory: place, service: service)
        }
    }

    /// The next key takes the place of the one in use. If it is interrupted, either is in its place.
    package func takeNext() throws(HostError) {
        guard let place = directory.name, let file = directory.file("identity.key"),
            let next = directory.file("identity.next.key")
        else { return }
        switch options.keys {
        case .file:
            do throws(IdentityError) { try SigningKey.replace(path: file, by: next) } catch { throw HostError(error) }
        case .secretService:
            try KeyringKey.replace(
                role: options.role, by: "\(options.role)-next", stateDirectory: place, service: service)
        }
    }

    /// The next key isn't wanted any more.
    package func dropNext() throws(HostError) {
        guard let place = directory.name, let file = directory.file("identity.next.key") else { return }
        switch options.keys {
        case .file:
            do throws(IdentityError) { try SigningKey.remove(path: file) } catch { throw HostError(error) }
        case .secretService:
            try KeyringKey.delete(role: "\(options.role)-next", stateDirectory: place, service: service)
        }
    }

    private var service: SecretService { SecretService(.session()) }

    private func key(_ name: String, keyring role: String) throws(HostError) -> SigningKey {
        guard let place = directory.name, let file = directory.file(name) else {
            do throws(IdentityError) { return try SigningKey.generate() } catch { throw HostError(error) }
        }
        switch options.keys {
        case .file:
            do throws(IdentityError) { return try SigningKey.loadOrCreate(path: file) } catch { throw HostError(error) }
        case .secretService:
            return try KeyringKey.loadOrCreate(role: role, stateDirectory: place, file: file, service: service)
        }
    }
}
