import JSON

extension Command {
    static let completion = Command(
        name: "completion",
        summary: "Prints the completion of this program for a shell.",
        about: [
            """
            Prints a script that teaches a shell the commands, their options, the words that these take, files, and the \
            names of paired desktops and devices. install.sh puts all three in their places.
            """
        ],
        operands: [
            Operand(name: "SHELL", help: "bash, zsh or fish.", isRequired: true, choices: ["bash", "zsh", "fish"])
        ],
        ownOptions: [],
        examples: [
            Example(line: "source <(bellwire completion bash)", says: "In ~/.bashrc; so for zsh, after compinit."),
            Example(
                line: "bellwire completion fish > ~/.config/fish/completions/bellwire.fish",
                says: "For this user's fish."
            ),
        ],
        run: { arguments throws(Failure) in
            let script: String
            switch arguments.operands[0] {
            case "bash": script = BashCompletion.script
            case "zsh": script = ZshCompletion.script
            case "fish": script = FishCompletion.script
            case let other:
                throw Failure(.usage, "there is no completion for \"\(other)\"; there is one for bash, zsh and fish")
            }
            if arguments.has(.json) {
                Output.json(["shell": .string(arguments.operands[0]), "script": .string(script)])
            } else {
                Output.text(script)
            }
            return .done
        })
}
