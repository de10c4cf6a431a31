import CBellwire

/// The manual pages, made of the same text as the help pages.
enum ManualPage {
    /// The date of the last change of their text.
    private static let date = "2026-11-25"

    /// bellwire(1).
    static var overview: String {
        var lines = head("bellwire", Help.summary)
        lines += [
            "\(Roff.bold("bellwire")) \(Roff.italic("COMMAND")) [\\fIoptions\\fR] [\\fIoperands\\fR]",
            Roff.section("DESCRIPTION"),
            Roff.prose(
                """
                Bellwire sends end-to-end encrypted notifications between your own machines. A device pairs with \
                desktops, receives their notifications and can send some. A desktop keeps the history and pushes to its \
                devices. A relay forwards frames between them. Each command has its own page.
                """),
            Roff.section("COMMANDS"),
        ]
        lines += Bellwire.commands.map { Roff.item(Roff.bold($0.name), $0.summary) }
        lines.append(Roff.section("OPTIONS"))
        lines += Help.options.map { Roff.item(Roff.bold($0.0), $0.1) }
        lines += tail(examples: Help.examples, except: nil)
        return lines.joined(separator: "\n") + "\n"
    }

    /// bellwire-COMMAND(1).
    static func page(of command: Command) -> String {
        var lines = head("bellwire-\(command.name)", CompletionText.brief(command.summary))
        let operands = command.operands.map { operand in
            let name = Roff.italic(operand.name) + (operand.repeats ? "..." : "")
            return operand.isRequired ? name : "[\(name)]"
        }
        lines.append(([Roff.bold("bellwire \(command.name)"), "[\\fIoptions\\fR]"] + operands).joined(separator: " "))
        lines.append(Roff.section("DESCRIPTION"))
        lines.append(command.about.map(Roff.prose).joined(separator: "\n.PP\n"))
        if !command.operands.isEmpty {
            lines.append(Roff.section("OPERANDS"))
            lines += command.operands.map { Roff.item(Roff.italic($0.name), $0.help) }
        }
        lines.append(Roff.section("OPTIONS"))
        lines += command.options.map { Roff.item(spelling(of: $0), $0.helpWithDefault) }
        lines += tail(examples: command.examples, except: command.name)
        return lines.joined(separator: "\n") + "\n"
    }

    private static func head(_ name: String, _ summary: String) -> [String] {
        let version = "bellwire \(String(cString: bw_version()))"
        return [
            ".TH \(name.uppercased()) 1 \(date) \"\(version)\" \"Bellwire\"",
            // Names of options and events are not to be broken.
            ".nh", ".ad l", Roff.section("NAME"),
            "\(Roff.escaped(name)) \\- \(Roff.escaped(summary))", Roff.section("SYNOPSIS"),
        ]
    }

    private static func tail(examples: [Command.Example], except name: String?) -> [String] {
        var lines = [Roff.section("EXIT STATUS")]
        lines += Exit.table.map { Roff.item(Roff.bold($0.0), $0.1) }
        lines.append(Roff.section("ENVIRONMENT"))
        lines += Help.environment.map { Roff.item(Roff.bold($0.0), $0.1) }
        if name == nil { lines += [Roff.section("FILES"), Roff.prose(Help.configuration)] }
        lines.append(Roff.section("EXAMPLES"))
        for (index, example) in examples.enumerated() {
            lines += [
                index == 0 ? Roff.prose(example.says) : ".PP\n" + Roff.prose(example.says), Roff.command(example.line),
            ]
        }
        lines.append(Roff.section("SEE ALSO"))
        let pages =
            (name == nil ? [] : ["bellwire"])
            + Bellwire.commands.map(\.name).filter { $0 != name }.map { "bellwire-\($0)" }
        lines.append(pages.map { "\(Roff.bold($0))(1)" }.joined(separator: ",\n"))
        return lines
    }

    private static func spelling(of option: Option) -> String {
        let names = option.spellings.reversed().map(Roff.bold).joined(separator: ", ")
        return switch option.value {
        case .none: names
        case .required(let placeholder): "\(names) \(Roff.italic(placeholder))"
        case .optional(let placeholder): "\(names)[=\(Roff.italic(placeholder))]"
        }
    }
}
