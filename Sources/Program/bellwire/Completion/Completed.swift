/// How a shell can complete a value.
enum Completed: Equatable {
    /// Nothing that could be known.
    case nothing
    /// What a notification says: bytes that are not UTF-8 are converted, not refused.
    case message
    case words([String])
    case file
    /// `@` and a file; anything else is free.
    case fileAfterAt
    case directory
    case command
    /// The names of who is paired with this device.
    case desktops
    /// The names of who is paired with the device, or with the desktop, of this machine.
    case peers

    /// Placeholders name the kind of a value: so the help page and the completion say the same.
    init(_ placeholder: String, choices: [String]) {
        switch placeholder {
        case _ where !choices.isEmpty: self = .words(choices)
        case "FILE", "IMAGE": self = .file
        case "TEXT": self = .fileAfterAt
        case "TITLE", "BODY": self = .message
        case "DIR": self = .directory
        case "CMD", "COMMAND": self = .command
        case "DESKTOP": self = .desktops
        case "PEER": self = .peers
        default: self = .nothing
        }
    }
}

extension Option {
    /// What stands for the value in the help; `nil` for a switch.
    var placeholder: String? {
        switch value {
        case .none: nil
        case .required(let placeholder), .optional(let placeholder): placeholder
        }
    }

    /// Whether the value may be a word of its own.
    var needsValue: Bool {
        if case .required = value { true } else { false }
    }

    var completed: Completed { Completed(placeholder ?? "", choices: choices) }

    /// All ways to write its name.
    var spellings: [String] { ["--\(name)"] + (short.map { ["-\($0)"] } ?? []) }

    /// The first sentence of its help, for a list of candidates.
    var brief: String { CompletionText.brief(help) }
}

extension Command.Operand {
    var completed: Completed { Completed(name, choices: choices) }
}

/// Helpers for the completions of all three shells.
enum CompletionText {
    /// The first sentence of a help text, without its full stop.
    static func brief(_ help: String) -> String {
        var words: [Substring] = []
        for word in help.split(separator: " ") {
            words.append(word)
            if word.hasSuffix(".") || word.hasSuffix(";") { break }
        }
        var text = words.joined(separator: " ")
        if text.hasSuffix(".") || text.hasSuffix(";") { text.removeLast() }
        return text
    }

    /// The words that can take the place of a command.
    static var firstWords: [(name: String, brief: String)] {
        Bellwire.commands.map { ($0.name, brief($0.summary)) } + [
            ("help", "Shows a command's page"), ("--help", "Shows the overview"), ("--version", "Shows the version"),
        ]
    }

    /// A text as one word of a shell of Bourne's family.
    static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
