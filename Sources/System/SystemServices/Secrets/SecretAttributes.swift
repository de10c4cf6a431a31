/// The attributes by which a secret is found. The service keeps it in the clear.
package struct SecretAttributes: Sendable, Equatable {
    /// What the secret is, such as `device-key`.
    package var role: String
    /// The absolute path of the state directory that it belongs to.
    package var stateDirectory: String

    package init(role: String, stateDirectory: String) {
        self.role = role
        self.stateDirectory = stateDirectory
    }

    var value: BusValue {
        .texts(["application": "bellwire", "role": role, "state_dir": stateDirectory])
    }

    /// The longest that are sent, in bytes: a role, a path.
    var isTooLong: Bool { role.utf8.count > 64 || stateDirectory.utf8.count > 4_096 }
}
