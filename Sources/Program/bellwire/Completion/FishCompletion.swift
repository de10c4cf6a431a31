/// Completion for fish.
enum FishCompletion {
    static var script: String {
        var lines = [
            """
            # Completion of bellwire for fish: put it into share/fish/vendor_completions.d/bellwire.fish.

            function __bellwire_is
                set -l words (commandline -opc)
                test (count $words) -ge 2; and test $words[2] = $argv[1]
            end

            function __bellwire_first
                test (count (commandline -opc)) -eq 1
            end

            # The names of who is paired. Asking would make a state directory that is not there.
            function __bellwire_peers
                set -l words (commandline -opc)
                set -l role $argv[1]
                if test $role = peers
                    set role device
                    contains -- --desktop $words; and set role desktop
                end
                set -l home $XDG_STATE_HOME
                test -n "$home"; or set home ~/.local/state
                test -d $home/bellwire/$role; or return
                $words[1] peers --$role --names 2> /dev/null
            end

            function __bellwire_at_file
                set -l token (commandline -ct)
                string match -q -- '@*' $token; or return
                for path in (string sub -s 2 -- $token)*
                    test -d $path; and set path $path/
                    echo "@$path"
                end
            end

            complete -c bellwire -f
            """
        ]
        for word in CompletionText.firstWords where !word.name.hasPrefix("-") {
            lines.append("complete -c bellwire -n __bellwire_first -a \(word.name) -d \(quoted(word.brief))")
        }
        lines.append("complete -c bellwire -n __bellwire_first -l help -s h -d 'Shows the overview'")
        lines.append("complete -c bellwire -n __bellwire_first -l version -s V -d 'Shows the version'")
        let names = Bellwire.commands.map(\.name).joined(separator: " ")
        lines.append("complete -c bellwire -n '__bellwire_is help' -a '\(names)'")
        for command in Bellwire.commands {
            let head = "complete -c bellwire -n '__bellwire_is \(command.name)'"
            for option in command.options {
                let short = option.short.map { " -s \($0)" } ?? ""
                let value = option.needsValue ? action(option.completed) : ""
                lines.append("\(head) -l \(option.name)\(short)\(value) -d \(quoted(option.brief))")
            }
            for operand in command.operands where operand.completed != .nothing {
                // A command to be run comes after the dashes alone.
                let condition = "-n '__bellwire_is \(command.name); and contains -- -- (commandline -opc)'"
                let head = operand.completed == .command ? "complete -c bellwire \(condition)" : head
                let action = action(operand.completed)
                lines.append(head + action.replacingFirst(" -r", with: "").replacingFirst(" -x", with: ""))
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func action(_ completed: Completed) -> String {
        switch completed {
        case .nothing, .message: " -x"
        case .words(let words): " -x -a \(quoted(words.joined(separator: " ")))"
        case .file: " -r -F"
        case .fileAfterAt: " -x -a '(__bellwire_at_file)'"
        case .directory: " -x -a '(__fish_complete_directories)'"
        case .command: " -x -a '(__fish_complete_command)'"
        case .desktops: " -x -a '(__bellwire_peers device)'"
        case .peers: " -x -a '(__bellwire_peers peers)'"
        }
    }

    private static func quoted(_ text: String) -> String {
        var result = "'"
        for character in text {
            if character == "'" || character == "\\" { result.append("\\") }
            result.append(character)
        }
        return result + "'"
    }
}

extension String {
    fileprivate func replacingFirst(_ part: String, with other: String) -> String {
        hasPrefix(part) ? other + dropFirst(part.count) : self
    }
}
