import Glibc
import JSON
package import Identity
package import SystemServices

/// A role's key in the keyring of the user's session.
///
/// For a thread of the host's: it blocks for 5 s at most with each call of the keyring.
package enum KeyringKey {
    /// The key in the keyring, or a new one kept there.
    ///
    /// A key in `file` is moved into the keyring; the file is deleted after the keyring has returned the key once. If
    /// the keyring cannot be reached, that is an error and never leads to a new key, which would be a second identity.
    package static func loadOrCreate(
        role: String, stateDirectory: String, file: String, service: SecretService
    ) throws(HostError) -> SigningKey {
        let attributes = SecretAttributes(role: "\(role)-key", stateDirectory: stateDirectory)
        if let key = try load(attributes, service) { return key }
        let hasFile = access(file, F_OK) == 0
        let key: SigningKey
        do throws(IdentityError) {
            key = try hasFile ? SigningKey.loadOrCreate(path: file) : SigningKey.generate()
        } catch {
            throw HostError(error)
        }
        do throws(SecretServiceError) {
            try service.store(
                key.withSecret { SecretBytes(copying: $0) }, label: "Bellwire \(role) key", attributes: attributes)
        } catch {
            throw HostError(error)
        }
        guard try load(attributes, service)?.did == key.did else {
            throw HostError(.io, "the keyring did not store the key; open with \"keys\":\"file\"")
        }
        if hasFile, unlink(file) != 0 {
            throw HostError(.io, "the key is now in the keyring, but \(file) could not be deleted; delete it")
        }
        return key
    }

    /// `nil` = the keyring has none.
    package static func load(
        role: String, stateDirectory: String, service: SecretService
    ) throws(HostError) -> SigningKey? {
        try load(SecretAttributes(role: "\(role)-key", stateDirectory: stateDirectory), service)
    }

    /// The key under one name takes the place of the one under another. The keyring replaces a key at once.
    package static func replace(
        role: String, by next: String, stateDirectory: String, service: SecretService
    ) throws(HostError) {
        let attributes = SecretAttributes(role: "\(role)-key", stateDirectory: stateDirectory)
        guard let key = try load(role: next, stateDirectory: stateDirectory, service: service) else {
            throw HostError(.io, "the keyring has lost the next key")
        }
        do throws(SecretServiceError) {
            try service.store(
                key.withSecret { SecretBytes(copying: $0) }, label: "Bellwire \(role) key", attributes: attributes)
        } catch {
            throw HostError(error)
        }
        guard try load(attributes, service)?.did == key.did else {
            throw HostError(.io, "the keyring did not store the key")
        }
        try delete(role: next, stateDirectory: stateDirectory, service: service)
    }

    /// Succeeds if there is none.
    package static func delete(role: String, stateDirectory: String, service: SecretService) throws(HostError) {
        do throws(SecretServiceError) {
            _ = try service.delete(SecretAttributes(role: "\(role)-key", stateDirectory: stateDirectory))
        } catch {
            throw HostError(error)
        }
    }

    private static func load(_ attributes: SecretAttributes, _ service: SecretService) throws(HostError) -> SigningKey?
    {
        let secret: SecretBytes?
        do throws(SecretServiceError) { secret = try service.lookUp(attributes) } catch { throw HostError(error) }
        guard let secret else { return nil }
        do throws(IdentityError) {
            return try secret.withBytes { (bytes) throws(IdentityError) in try SigningKey(secret: bytes) }
        } catch {
            throw HostError(
                .io, "the keyring's entry for \(attributes.stateDirectory) is not a key; delete it to get a new one")
        }
    }
}

extension HostError {
    init(_ error: SecretServiceError) {
        let code: Code = error.code == .locked || error.code == .refused ? .denied : .io
        self.init(
            code, "\(error.message); or open with \"keys\":\"file\"", detail: ["reason": .string(error.code.name)])
    }
}
