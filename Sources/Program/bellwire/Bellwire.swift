import CBellwire
import Glibc

/// The command-line program, on top of the public C interface.
@main
enum Bellwire {
    /// Every command, in the order of the overview.
    static let commands: [Command] = [
        .relay, .desktop, .pair, .status, .doctor, .peers, .rekey, .revoke, .listen, .agent, .send, .push, .group,
        .token, .run,
        .history, .inbox, .settings, .quiet, .queue, .backup, .restore, .qr, .completion, .man, .version,
    ]

    static func main() {
        do throws(Failure) {
            try StandardDescriptors.fill()
            try Interrupt.install()
            exit(try run(CommandLineWords.read()).code)
        } catch {
            Output.failure(error, json: CommandLineWords.haveJSON)
            exit(error.exit.code)
        }
    }

    private static func run(_ words: [String]) throws(Failure) -> Exit {
        guard let first = words.first else {
            throw Failure(
                .usage,
                "missing command; commands are \(commands.map(\.name).joined(separator: ", ")) (see bellwire --help)")
        }
        _ = try Word.checked(first, as: .nothing, in: "argument 1")
        switch first {
        case "--help", "-h":
            Output.text(Help.overview(of: commands))
            return .done
        case "help":
            guard let name = words.dropFirst().first else {
                Output.text(Help.overview(of: commands))
                return .done
            }
            Output.text(Help.page(of: try command(named: name)))
            return .done
        case "--version", "-V": return try Command.version.run(try Arguments([], of: .version))
        default:
            if first.hasPrefix("-") {
                throw Failure(.usage, "unknown option \(first) before a command (see bellwire --help)")
            }
            let command = try command(named: first)
            var arguments = try Arguments(words.dropFirst(), of: command)
            if arguments.has(.help) {
                Output.text(Help.page(of: command))
                return .done
            }
            arguments.add(try Configuration(profile: arguments.text(.profile)).defaults(for: command))
            Style.choose(arguments.text(.color))
            if arguments.has(.json) { Progress.silence() }
            return try command.run(arguments)
        }
    }

    static func command(named name: String) throws(Failure) -> Command {
        if let command = commands.first(where: { $0.name == name }) { return command }
        let nearest = Suggestion.nearest(to: name, in: commands.map(\.name))
        let hint = nearest.map { "did you mean \"\($0)\"?" } ?? "see bellwire --help"
        throw Failure(.usage, "unknown command \"\(name)\": \(hint)")
    }
}
