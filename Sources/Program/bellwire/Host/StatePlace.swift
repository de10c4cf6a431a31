/// The device or the desktop of this machine, and its state directory, for commands that are about both.
struct StatePlace {
    let role: RoleStatus.Role
    let directory: String

    /// Those that the options mean; without any, both.
    static func all(_ arguments: Arguments, of command: String) throws(Failure) -> [StatePlace] {
        try arguments.exclude([Command.onlyDevice, Command.onlyDesktop], of: command)
        let roles: [RoleStatus.Role] =
            if arguments.has(Command.onlyDevice) { [.device] } else if arguments.has(Command.onlyDesktop) {
                [.desktop]
            } else { RoleStatus.Role.allCases }
        if arguments.isWritten(Command.roleDirectory), roles.count > 1 {
            throw Failure(.usage, "--state-dir requires --device or --desktop")
        }
        let written = roles.count == 1 ? arguments.text(Command.roleDirectory) : nil
        return try roles.map { role throws(Failure) in
            let directory = if let written { written } else { try EnvironmentPath.stateDirectory(of: role.rawValue) }
            return StatePlace(role: role, directory: directory)
        }
    }
}

extension Command {
    static let onlyDevice = Option("device", "Only the device.")
    static let onlyDesktop = Option("desktop", "Only the desktop.")
    static let roleDirectory = Option(
        "state-dir", .required("DIR"),
        "With --device or --desktop: its directory (default: $XDG_STATE_HOME/bellwire/device or …/desktop).")
}
