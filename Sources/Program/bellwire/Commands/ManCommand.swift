import JSON

extension Command {
    static let man = Command(
        name: "man",
        summary: "Prints the manual page of a command.",
        about: [
            """
            Prints bellwire(1), or with a COMMAND bellwire-COMMAND(1), in roff, the format of man. The pages contain \
            the same text as --help. install.sh installs them all.
            """
        ],
        operands: [Operand(name: "COMMAND", help: "A command; --list prints them all.")],
        ownOptions: [manList],
        examples: [
            Example(line: "bellwire man listen | man -l -", says: "Shows a page without installing it."),
            Example(
                line: "for c in $(bellwire man --list); do bellwire man $c > bellwire-$c.1; done",
                says: "Writes all pages."),
        ],
        run: { arguments throws(Failure) in
            if arguments.has(manList) {
                guard arguments.operands.isEmpty else {
                    throw Failure(.usage, "--list takes no COMMAND (see bellwire man --help)")
                }
                if arguments.has(.json) {
                    Output.json(
                        "commands",
                        Bellwire.commands.map { ["name": .string($0.name), "summary": .string($0.summary)] })
                } else {
                    for command in Bellwire.commands { Output.line(command.name) }
                }
                return .done
            }
            let page =
                try arguments.operands.first.map { name throws(Failure) in
                    ManualPage.page(of: try Bellwire.command(named: name))
                } ?? ManualPage.overview
            if arguments.has(.json) { Output.json(["page": .string(page)]) } else { Output.text(page) }
            return .done
        })

    private static let manList = Option("list", "Prints the names of all commands, one per line.")
}
