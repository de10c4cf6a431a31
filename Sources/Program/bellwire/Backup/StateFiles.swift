/// The files of a state directory that a backup has.
///
/// Locks and sockets belong to running programs. The files that say which pushes programs were about to receive are of no
/// use after a restart of the machine.
struct StateFiles {
    let role: RoleStatus.Role
    /// Copied by SQLite, also while a program uses them.
    let databases: [String]
    /// Replaced as a whole whenever they change.
    let files: [String]

    init(_ role: RoleStatus.Role) {
        self.role = role
        let name = role.rawValue
        databases = role == .device ? ["device.db"] : ["desktop.db", "relay/relay.db"]
        // The second copy of the pairings must not be older than the database.
        files =
            ["\(name).pairings", "identity.next.key"]
            + (role == .device ? [] : ["tokens.json", "relay/relay.db.ids"])
    }

    /// Of the backup, beside the roles'.
    static let configuration = "config.json"
    static let key = "identity.key"

    /// Whether a backup has files with this name: one of another name is not unpacked.
    static func isKnown(_ name: String) -> Bool {
        name == configuration
            || RoleStatus.Role.allCases.contains { role in
                let files = StateFiles(role)
                return (files.databases + files.files + [key]).contains { "\(role.rawValue)/\($0)" == name }
            }
    }
}
