/// One command: what its help page says, what it takes, what it does.
struct Command: Sendable {
    struct Operand: Sendable {
        let name: String
        let help: String
        var isRequired = false
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

    static let common: [Option] = [.json, .verbose, .help]

    var options: [Option] { ownOptions + Command.common }
}
