/// The arguments after a command's name, checked against the command's options and operands.
struct Arguments {
    /// Values by option name, in their order; a switch, or an optional value left out, is `nil`.
    private var values: [String: [String?]] = [:]
    private(set) var operands: [String] = []
    /// Options that the user's configuration gives.
    private var defaults: Set<String> = []

    /// Options and operands may come in any order; `--` ends the options; the last of two equal options counts.
    init(_ words: ArraySlice<String>, of command: Command) throws(Failure) {
        var rest = words
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                break
            }
            guard word.hasPrefix("-"), word != "-" else {
                operands.append(word)
                continue
            }
            try take(word, from: &rest, of: command)
        }
        if has(.help) { return }
        let required = command.operands.filter(\.isRequired)
        if operands.count < required.count {
            throw Arguments.misuse("\(required[operands.count].name) is missing", command)
        }
        if operands.count > command.operands.count, command.operands.last?.repeats != true {
            throw Arguments.misuse("\"\(operands[command.operands.count])\" is an unexpected argument", command)
        }
        try checkWords(of: command)
    }

    /// ``Word/checked(_:as:in:)`` for all words.
    private mutating func checkWords(of command: Command) throws(Failure) {
        // A command that is to run takes any arguments.
        let isCommand = command.operands.first?.completed == .command
        for (index, word) in operands.enumerated() {
            let kind = index < command.operands.count ? command.operands[index].completed : .nothing
            operands[index] = try Word.checked(
                word, as: isCommand ? .command : kind, in: "\"\(Word.shown(word))\"")
        }
        for option in command.options {
            for (index, value) in (values[option.name] ?? []).enumerated() {
                guard let value else { continue }
                values[option.name]?[index] = try Word.checked(
                    value, as: option.completed, in: "--\(option.name)")
            }
        }
    }

    private mutating func take(
        _ word: String, from rest: inout ArraySlice<String>, of command: Command
    ) throws(Failure) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let spelled = String(parts.first ?? "")
        let attached = parts.count == 2 ? String(parts[1]) : nil
        let found = command.options.first { option in
            spelled == "--\(option.name)" || option.short.map { spelled == "-\($0)" } ?? false
        }
        guard let option = found else {
            let nearest = Suggestion.nearest(to: spelled, in: command.options.map { "--\($0.name)" })
            throw Arguments.misuse("unknown option \(spelled)\(nearest.map { ", did you mean \($0)?" } ?? "")", command)
        }
        switch option.value {
        case .none:
            if attached != nil { throw Arguments.misuse("--\(option.name) takes no value", command) }
            values[option.name, default: []].append(nil)
        case .optional:
            values[option.name, default: []].append(attached)
        case .required(let placeholder):
            guard let value = attached ?? rest.popFirst() else {
                throw Arguments.misuse("--\(option.name) needs a value: \(placeholder)", command)
            }
            guard option.choices.isEmpty || option.choices.contains(value) else {
                let choices = option.choices.joined(separator: ", ")
                throw Arguments.misuse("--\(option.name): \"\(value)\" must be one of \(choices)", command)
            }
            values[option.name, default: []].append(value)
        }
    }

    /// Options that were left out, with the user's defaults.
    mutating func add(_ defaults: [Configuration.Default]) {
        for (option, value) in defaults where !has(option) {
            values[option.name] = [value]
            self.defaults.insert(option.name)
        }
    }

    /// Whether it is on the command line: a default that does not apply is no mistake.
    func isWritten(_ option: Option) -> Bool { has(option) && !defaults.contains(option.name) }

    func has(_ option: Option) -> Bool { values.keys.contains(option.name) }

    func text(_ option: Option) -> String? { values[option.name]?.last ?? nil }

    /// Of an option that may be given several times.
    func texts(_ option: Option) -> [String] { values[option.name]?.compactMap(\.self) ?? [] }

    /// Refuses two of these at once.
    func exclude(_ options: [Option], of command: String) throws(Failure) {
        let given = options.filter(has)
        guard given.count > 1 else { return }
        throw Failure(
            .usage, "--\(given[0].name) and --\(given[1].name) cannot be combined (see bellwire \(command) --help)")
    }

    /// The option's value as a whole number, or its default.
    func integer(_ option: Option, in range: ClosedRange<Int>) throws(Failure) -> Int? {
        guard let text = text(option) ?? option.initial else { return nil }
        guard let value = Int(text), range.contains(value) else {
            throw Failure(
                .usage,
                "--\(option.name): \"\(text)\" is not a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    /// A number of seconds, fractions allowed, as milliseconds.
    ///
    /// - Parameter most: seconds; the library's own calls take 600.
    func milliseconds(_ option: Option, most: Int = 600) throws(Failure) -> Int32 {
        let text = text(option) ?? option.initial ?? ""
        guard let seconds = Double(text), seconds >= 0.001, seconds <= Double(most) else {
            throw Failure(.usage, "--\(option.name): \"\(text)\" is not a number of seconds from 0.001 to \(most)")
        }
        return Int32(seconds * 1000)
    }

    private static func misuse(_ problem: String, _ command: Command) -> Failure {
        Failure(.usage, "\(problem) (see bellwire \(command.name) --help)")
    }
}
