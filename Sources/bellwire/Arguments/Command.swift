/// One command: what its help page says, what it takes, what it does.
struct Command: Sendable {
    struct Operand: Sendable {
        let name: String
        let help: String
        var isRequired = false
        /// The last operand of a command may be given several times.
        var repeats = false
        /// Words that it may be; for the completion, the command itself says what else it takes.
        var choices: [String] = []

        /// How the usage shows it.
        var spelling: String {
            let name = repeats ? "\(name)..." : name
            return isRequired ? name : "[\(name)]"
        }
    }

    struct Example: Sendable {
        let line: String
        let says: String
    }

    let name: String
    /// One line, for the overview.
    let summary: String
    /// Paragraphs for its own page.
    let about: [String]
    let operands: [Operand]
    /// Its own options; ``common`` are added to them.
    let ownOptions: [Option]
    let examples: [Example]
    let run: @Sendable (Arguments) throws(Failure) -> Exit

    static let common: [Option] = [.json, .color, .verbose, .help]

    var options: [Option] { ownOptions + Command.common }

    /// How it is called.
    var usage: String { (["bellwire", name, "[options]"] + operands.map(\.spelling)).joined(separator: " ") }
}
