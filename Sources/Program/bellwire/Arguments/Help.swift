import CBellwire

/// The help pages, generated from the commands.
enum Help {
    /// In columns: the terminal's width, within reason; 80 for pipes and files.
    private static let width: Int = {
        guard Output.isTerminal, let columns = Output.columns else { return 80 }
        return min(max(columns, 40), 100)
    }()

    /// What the program does, in one line.
    static let summary = "end-to-end encrypted notifications between your own machines"

    /// Options without a command.
    static let options = [
        ("--help, -h", "Shows this page; bellwire COMMAND --help shows a command's page."),
        ("--version, -V", "Shows the version."),
    ]

    static let environment = [
        ("XDG_STATE_HOME", "Base of the default state directories (default: ~/.local/state)."),
        ("XDG_CONFIG_HOME", "Base of the configuration file's path (default: ~/.config)."),
        ("BELLWIRE_PROFILE", "The profile to use if there is no --profile."),
        ("COLUMNS", "The width of help pages on a terminal, from 40 to 100 (default: the terminal's)."),
        ("NO_COLOR", "If set, disables colours."),
        ("TERM", "If \"dumb\", disables colours."),
    ]

    static let configuration = """
        bellwire/config.json in $XDG_CONFIG_HOME contains default values for options. It is an object of profiles: the \
        profile "default" always applies, another one in addition with --profile. A profile maps option names to \
        values, for every command that has the option, and command names to objects of options for that command. For \
        example: {"default": {"color": "never", "send": {"priority": "high"}}, "work": {"state-dir": "/srv/bellwire", \
        "timeout": 5}}. Options on the command line take precedence.
        """

    static let examples = [
        Command.Example(line: "bellwire desktop", says: "in one terminal: shows a QR code and its text"),
        Command.Example(line: "bellwire pair", says: "in another: paste the text"),
        Command.Example(line: "bellwire listen", says: "prints what the desktop pushes"),
    ]

    static func overview(of commands: [Command]) -> String {
        let rows = commands.map { ($0.name, $0.summary) }
        return """
            \(lines(of: "bellwire \(String(cString: bw_version())): \(summary)", width: width).joined(separator: "\n"))

            Usage: bellwire COMMAND [options]

            Commands:
            \(table(rows))

            Options:
            \(table(options))

            Exit codes:
            \(table(Exit.table))

            Environment:
            \(table(environment))

            Configuration:
            \(lines(of: configuration, width: width - 2).map { "  " + $0 }.joined(separator: "\n"))

            Try it:
            \(examples.map(inOverview).joined(separator: "\n"))

            """
    }

    private static func inOverview(_ example: Command.Example) -> String {
        let line = "  $ " + Printable.padded(example.line, to: 34) + example.says
        return line.count <= width ? line : inPage(example)
    }

    /// A command that can be copied stays in one line.
    private static func inPage(_ example: Command.Example) -> String {
        let says = lines(of: example.says, width: width - 6).map { "      " + $0 }
        return (["  $ \(example.line)"] + says).joined(separator: "\n")
    }

    static func page(of command: Command) -> String {
        var page = lines(of: "Usage: \(command.usage)", width: width).joined(separator: "\n    ") + "\n\n"
        for paragraph in command.about { page += lines(of: paragraph, width: width).joined(separator: "\n") + "\n\n" }
        if !command.operands.isEmpty { page += "Operands:\n\(table(command.operands.map { ($0.name, $0.help) }))\n\n" }
        let options = command.options.map { ($0.spelling, $0.helpWithDefault) }
        page += "Options:\n\(table(options))\n\nExit codes:\n\(table(Exit.table))\n\nExamples:\n"
        for example in command.examples { page += inPage(example) + "\n" }
        return page
    }

    /// Two columns; if the first one is too long, it gets its own line.
    private static func table(_ rows: [(String, String)]) -> String {
        // In a narrow terminal most names get their own lines, so that the texts have room.
        let column = min(rows.map(\.0.count).max() ?? 0, width < 60 ? 6 : 26) + 4
        return rows.map { name, text in
            let texts = lines(of: text, width: width - column)
            let indent = String(repeating: " ", count: column)
            let head = "  \(name)"
            var result: [String] = []
            if head.count + 2 > column {
                result.append(head)
                result += texts.map { indent + $0 }
            } else {
                let padding = String(repeating: " ", count: column - head.count)
                result.append(head + padding + (texts.first ?? ""))
                result += texts.dropFirst().map { indent + $0 }
            }
            return result.joined(separator: "\n")
        }.joined(separator: "\n")
    }

    private static func lines(of text: String, width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return line.isEmpty ? lines : lines + [line]
    }
}
