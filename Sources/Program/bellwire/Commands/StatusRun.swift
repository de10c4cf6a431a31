import CBellwire
import JSON

/// One run of `bellwire status`.
struct StatusRun {
    private let arguments: Arguments
    private let roles: [RoleStatus.Role]

    init(_ arguments: Arguments) throws(Failure) {
        try arguments.exclude([Command.statusDevice, Command.statusDesktop], of: "status")
        self.arguments = arguments
        roles =
            if arguments.has(Command.statusDevice) { [.device] } else if arguments.has(Command.statusDesktop) {
                [.desktop]
            } else { RoleStatus.Role.allCases }
        if arguments.isWritten(Command.statusStateDirectory), roles.count > 1 {
            throw Failure(.usage, "--state-dir requires --device or --desktop")
        }
    }

    func run() throws(Failure) -> Exit {
        var shown: [RoleStatus] = []
        for role in roles {
            let written = roles.count == 1 ? arguments.text(Command.statusStateDirectory) : nil
            let directory = if let written { written } else { try EnvironmentPath.stateDirectory(of: role.rawValue) }
            shown.append(try RoleStatus(role, in: directory, verbose: arguments.has(.verbose)))
        }
        if arguments.has(.json) { show(json: shown) } else { show(shown) }
        return .done
    }

    private func show(json shown: [RoleStatus]) {
        var object: JSONObject = ["version": .string(String(cString: bw_version()))]
        for status in shown { object[status.role.rawValue] = status.json }
        object["problems"] = .array(
            shown.flatMap { status in status.problems.map { $0.json(of: status.role) } })
        Output.json(.object(object))
    }

    private func show(_ shown: [RoleStatus]) {
        for status in shown {
            Output.line(Style.bold.of(status.title))
            let width = status.lines.map(\.name.count).max() ?? 0
            for line in status.lines { Output.line("  \(Printable.padded(line.name, to: width))  \(line.text)") }
        }
        let problems = shown.flatMap(\.problems)
        Output.line(Style.bold.of(problems.isEmpty ? "No problems found" : "Problems"))
        for problem in problems {
            Output.line("  " + Style.yellow.of(Printable.line(problem.message)))
            Output.line("    " + Printable.line(problem.advice))
        }
    }
}
