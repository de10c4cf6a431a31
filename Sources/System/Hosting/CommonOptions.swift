import Glibc

/// The options that a device and a desktop share.
package struct CommonOptions: Sendable {
    /// What a peer without proof of identity may still do.
    package enum Legacy: String, CaseIterable, Sendable {
        /// Pair by a QR code alone.
        case qr
        /// That, or by the six digits of a typed code.
        case all
        /// Nothing: only Bellwire peers.
        case none
    }

    /// Where the key lies.
    package enum Keys: String, CaseIterable, Sendable {
        /// In a file of the state directory, 0600.
        case file
        /// In the keyring of the user's session.
        case secretService = "secret-service"
    }

    /// `device` or `desktop`.
    package let role: String
    /// `nil` = in memory.
    package var stateDirectory: String?
    package var name: String
    /// The name, if the program chose it.
    package let givenName: String?
    package var platform: String
    package var relayURL: String?
    package var caFile: String?
    package var legacy: Legacy
    package var isThreaded: Bool
    package var keys: Keys
    /// Whether it follows what the machine's services say: sleep, network, relays nearby.
    package var followsSystem: Bool

    /// Takes its keys from `options`; the caller takes its own and then finishes the reader.
    package init(_ options: inout OptionsReader, role: String) throws(HostError) {
        self.role = role
        let place = try options.text("state_dir")
        if let place {
            guard !place.isEmpty else { throw options.invalid("state_dir", "is empty; pass a directory") }
            stateDirectory = place == ":memory:" ? nil : place
        } else {
            guard let standard = StateDirectory.standard(role: role) else {
                throw options.invalid("state_dir", "is required, because neither XDG_STATE_HOME nor HOME is set")
            }
            stateDirectory = standard
        }
        givenName = try options.text("name", maximumBytes: 256)
        name = givenName ?? CommonOptions.hostName()
        guard !name.isEmpty else { throw options.invalid("name", "is empty; omit it to use the host name") }
        platform = try options.text("platform", maximumBytes: 256) ?? "linux"
        relayURL = try options.relayURL("relay_url")
        var tls = try options.object("tls")
        caFile = try tls?.text("ca_file")
        try tls?.finish()
        legacy = try options.choice("legacy", of: Legacy.self) ?? .qr
        isThreaded = try options.flag("threaded") ?? false
        keys = try options.choice("keys", of: Keys.self) ?? .file
        followsSystem = try options.flag("follow_system") ?? true
    }

    package static func hostName() -> String {
        // POSIX: a host name has at most 255 bytes.
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "Bellwire" }
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return bytes.isEmpty ? "Bellwire" : String(decoding: bytes, as: UTF8.self)
    }
}
