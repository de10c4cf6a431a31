import CBellwire
import JSON

/// One run of `bellwire status`.
struct StatusRun {
    private let arguments: Arguments
    private let places: [StatePlace]

    init(_ arguments: Arguments) throws(Failure) {
        self.arguments = arguments
        places = try StatePlace.all(arguments, of: "status")
    }

    func run() throws(Failure) -> Exit {
        var shown: [RoleStatus] = []
        for place in places {
            shown.append(try RoleStatus(place.role, in: place.directory, verbose: arguments.has(.verbose)))
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
