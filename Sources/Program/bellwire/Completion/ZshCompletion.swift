/// Completion for zsh: the function `_bellwire`.
enum ZshCompletion {
    static var script: String {
        let commands = CompletionText.firstWords.map {
            "        " + CompletionText.quoted("\($0.name):\(escaped($0.brief))")
        }
        return """
            #compdef bellwire
            # Completion of bellwire for zsh: put it into a directory of $fpath, such as share/zsh/site-functions, as
            # _bellwire.

            # The names of who is paired. Asking would make a state directory that is not there.
            _bellwire_peers() {
                # _arguments puts options of compadd before the action's own word.
                local role=${@[-1]}
                [[ $role == peers ]] && { role=device; (( ${words[(I)--desktop]} )) && role=desktop }
                [[ -d ${XDG_STATE_HOME:-$HOME/.local/state}/bellwire/$role ]] || return 1
                local -a names=(${(f)"$(${(Q)_bellwire_program} peers --$role --names 2> /dev/null)"})
                compadd "${@[1,-2]}" -a names
            }

            # A command to be run comes after the dashes alone.
            _bellwire_run() {
                (( ${words[(i)--]} < CURRENT )) && _command_names "$@"
            }

            _bellwire_at_file() {
                compset -P '@' && _files
            }

            _bellwire_commands() {
                local -a commands=(
            \(commands.joined(separator: "\n"))
                )
                _describe command commands
            }

            _bellwire() {
                local _bellwire_program=$words[1]
                if (( CURRENT == 2 )); then
                    _bellwire_commands
                    return
                fi
                local command=$words[2]
                shift words
                (( CURRENT-- ))
                case $command in
                    help) (( CURRENT == 2 )) && compadd \(Bellwire.commands.map(\.name).joined(separator: " ")) ;;
            \(Bellwire.commands.map(branch).joined(separator: "\n"))
                esac
            }

            if [[ $funcstack[1] == _bellwire ]]; then _bellwire "$@"; else compdef _bellwire bellwire; fi

            """
    }

    private static func branch(_ command: Command) -> String {
        var specifications: [String] = []
        for option in command.options {
            for spelling in option.spellings {
                let isLong = spelling.hasPrefix("--")
                let value: String
                switch option.value {
                case .none: value = ""
                case .required(let placeholder): value = ":\(escaped(placeholder)):\(action(option.completed))"
                case .optional(let placeholder): value = "::\(escaped(placeholder)):\(action(option.completed))"
                }
                let mark =
                    switch option.value {
                    case .none: ""
                    case .required: isLong ? "=" : ""
                    case .optional: "=-"
                    }
                specifications.append("*\(spelling)\(mark)[\(escaped(option.brief))]\(value)")
            }
        }
        for (index, operand) in command.operands.enumerated() {
            let place = operand.repeats ? "*" : "\(index + 1)"
            let action = operand.completed == .command ? "_bellwire_run -e" : action(operand.completed)
            specifications.append("\(place):\(operand.isRequired ? "" : ":")\(operand.name):\(action)")
        }
        // The star's own form has no second colon.
        let words = specifications.map { $0.hasPrefix("*::") ? "*:" + $0.dropFirst(3) : $0 }
        return """
                    \(command.name))
                        _arguments -S : \\
            \(words.map { "                " + CompletionText.quoted($0) }.joined(separator: " \\\n")) ;;
            """
    }

    /// Brackets and colons end the parts of a specification.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            if "[]:\\".contains(character) { result.append("\\") }
            result.append(character)
        }
        return result
    }

    private static func action(_ completed: Completed) -> String {
        switch completed {
        case .nothing, .message: " "
        case .words(let words): "(\(words.joined(separator: " ")))"
        case .file: "_files"
        case .fileAfterAt: "_bellwire_at_file"
        case .directory: "_files -/"
        case .command: "_command_names -e"
        case .desktops: "_bellwire_peers device"
        case .peers: "_bellwire_peers peers"
        }
    }
}
