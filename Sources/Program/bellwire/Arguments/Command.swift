/// One command: its help page, operands, options and implementation.
struct Command: Sendable {
    struct Operand: Sendable {
        let name: String
        let help: String
        var isRequired = false
        /// The last operand of a command may be given several times.
        var repeats = false
        /// Its possible words, for completion; the command itself checks the value.
        var choices: [String] = []

        /// Its form in the usage line.
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
    /// Its own options, in addition to ``common``.
    let ownOptions: [Option]
    let examples: [Example]
    let run: @Sendable (Arguments) throws(Failure) -> Exit

    static let common: [Option] = [.json, .profile, .color, .verbose, .help]

    var options: [Option] { ownOptions + Command.common }

    func option(named name: String) -> Option? { options.first { $0.name == name } }

    /// The usage line.
    var usage: String { (["bellwire", name, "[options]"] + operands.map(\.spelling)).joined(separator: " ") }
}
