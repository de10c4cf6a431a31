/// Completion for bash. It needs nothing of the package bash-completion.
enum BashCompletion {
    static var script: String {
        let names = CompletionText.firstWords.map(\.name)
        return """
            # Completion of bellwire for bash: source it, or put it into share/bash-completion/completions/bellwire.
            # shellcheck shell=bash

            # Takes the words of an array that begin with the one that is being completed.
            _bellwire_words() {
                local word plain=${current//\\\\/}
                plain=${plain#[\\"\\']}
                for word in "$@"; do
                    [[ $word == "$plain"* ]] && COMPREPLY+=("$attached$word")
                done
            }

            _bellwire_paths() {
                compopt -o filenames 2> /dev/null
                mapfile -t COMPREPLY < <(compgen "$1" -P "$attached" -- "$current")
            }

            # The names of who is paired. Asking would make a state directory that is not there.
            _bellwire_peers() {
                local names
                [[ -d ${XDG_STATE_HOME:-$HOME/.local/state}/bellwire/$1 ]] || return
                mapfile -t names < <("${COMP_WORDS[0]}" peers "--$1" --names 2> /dev/null)
                compopt -o filenames 2> /dev/null
                _bellwire_words "${names[@]}"
            }

            _bellwire_at_file() {
                # To bash these are two words, of which readline replaces both.
                if [[ $previous == @ ]]; then
                    attached=@
                    _bellwire_paths -f
                elif [[ $current == @* ]]; then
                    attached+=@ current=${current#@}
                    _bellwire_paths -f
                fi
            }

            _bellwire() {
                local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
                local command=${COMP_WORDS[1]} option attached='' ended='' word
                COMPREPLY=()
                if ((COMP_CWORD == 1)); then
                    _bellwire_words \(names.joined(separator: " "))
                    return
                fi
                # --name=value is three words to bash, or one where COMP_WORDBREAKS has been changed.
                option=$previous
                if [[ $current == = ]]; then
                    current=''
                elif [[ $previous == = ]]; then
                    option=${COMP_WORDS[COMP_CWORD - 2]}
                elif [[ $current == --*=* ]]; then
                    option=${current%%=*} attached=${current%%=*}= current=${current#*=}
                elif [[ $previous == @ ]]; then
                    option=${COMP_WORDS[COMP_CWORD - 2]}
                fi
                for word in "${COMP_WORDS[@]:2:COMP_CWORD-2}"; do
                    [[ $word == -- ]] && ended=yes
                done
                case $command in
                    help) ((COMP_CWORD == 2)) && _bellwire_words \(Bellwire.commands.map(\.name).joined(separator: " ")) ;;
            \(Bellwire.commands.map(branch).joined(separator: "\n"))
                esac
            }

            complete -F _bellwire bellwire

            """
    }

    private static func branch(_ command: Command) -> String {
        var lines = ["        \(command.name))"]
        var cases: [String] = []
        for option in command.options where option.needsValue {
            cases.append("                \(option.spellings.joined(separator: " | "))) \(action(option.completed)) ;;")
        }
        for option in command.options where !option.choices.isEmpty && !option.needsValue {
            cases.append(
                "                --\(option.name)) [[ $current$previous == *=* ]] && \(action(option.completed)) ;;")
        }
        let all = command.options.flatMap(\.spellings).joined(separator: " ")
        lines.append("            if [[ -z $ended ]]; then")
        lines.append("                case $option in")
        lines += cases.map { "    " + $0.replacingEnd(" ;;", with: "; return ;;") }
        lines.append("                esac")
        lines.append("                if [[ $current == -* ]]; then _bellwire_words \(all); return; fi")
        lines.append("            fi")
        // Which operand it is, is not counted: what may stand in any place is offered.
        for operand in command.operands where operand.completed != .nothing {
            // A command to be run comes after the dashes alone.
            let condition = operand.completed == .command ? "[[ -n $ended ]] && " : ""
            lines.append("            \(condition)\(action(operand.completed))")
        }
        lines.append("            ;;")
        return lines.joined(separator: "\n")
    }

    private static func action(_ completed: Completed) -> String {
        switch completed {
        case .nothing, .message: ":"
        case .words(let words): "_bellwire_words \(words.map(CompletionText.quoted).joined(separator: " "))"
        case .file: "_bellwire_paths -f"
        case .fileAfterAt: "_bellwire_at_file"
        case .directory: "_bellwire_paths -d"
        case .command: "_bellwire_paths -c"
        case .desktops: "_bellwire_peers device"
        case .peers:
            "if [[ \" ${COMP_WORDS[*]} \" == *' --desktop '* ]]; then _bellwire_peers desktop; "
                + "else _bellwire_peers device; fi"
        }
    }
}

extension String {
    fileprivate func replacingEnd(_ end: String, with other: String) -> String {
        hasSuffix(end) ? String(dropLast(end.count)) + other : self
    }
}
