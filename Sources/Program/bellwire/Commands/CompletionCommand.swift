import JSON

extension Command {
    static let completion = Command(
        name: "completion",
        summary: "Prints the completion script for a shell.",
        about: [
            """
            Prints a script that completes commands, options, their values, files and the names of paired desktops and \
            devices in a shell. install.sh installs the scripts for all three shells.
            """
        ],
        operands: [
            Operand(name: "SHELL", help: "bash, zsh or fish.", isRequired: true, choices: ["bash", "zsh", "fish"])
        ],
        ownOptions: [],
        examples: [
            Example(
                line: "source <(bellwire completion bash)", says: "For ~/.bashrc; in ~/.zshrc, put it after compinit."),
            Example(
                line: "bellwire completion fish > ~/.config/fish/completions/bellwire.fish",
                says: "Installs it for your fish."
            ),
        ],
        run: { arguments throws(Failure) in
            let script: String
            switch arguments.operands[0] {
            case "bash": script = BashCompletion.script
            case "zsh": script = ZshCompletion.script
            case "fish": script = FishCompletion.script
            case let other:
                throw Failure(.usage, "no completion for \"\(other)\"; supported shells: bash, zsh, fish")
            }
            if arguments.has(.json) {
                Output.json(["shell": .string(arguments.operands[0]), "script": .string(script)])
            } else {
                Output.text(script)
            }
            return .done
        })
}
