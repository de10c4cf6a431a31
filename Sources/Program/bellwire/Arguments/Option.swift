/// One option of a command: how it is written and what its help says.
struct Option: Sendable {
    enum Value: Sendable {
        /// A switch.
        case none
        /// `--name VALUE` or `--name=VALUE`.
        case required(String)
        /// `--name` or `--name=VALUE`.
        case optional(String)
    }

    let name: String
    let short: Character?
    let value: Value
    /// What it does, for the help page; its default is said by ``initial``.
    let help: String
    /// The default as text; `nil` if there is none, or if the help text contains it.
    let initial: String?
    /// The only values that it takes; none = any.
    let choices: [String]

    /// A switch.
    init(_ name: String, short: Character? = nil, _ help: String) { self.init(name, short: short, .none, help) }

    init(
        _ name: String, short: Character? = nil, _ value: Value, _ help: String, initial: String? = nil,
        choices: [String] = []
    ) {
        self.name = name
        self.short = short
        self.value = value
        self.help = help
        self.initial = initial
        self.choices = choices
    }

    var helpWithDefault: String { initial.map { "\(help) Default: \($0)." } ?? help }

    /// How the option is written, as the help page shows it.
    var spelling: String {
        let long =
            switch value {
            case .none: "--\(name)"
            case .required(let placeholder): "--\(name) \(placeholder)"
            case .optional(let placeholder): "--\(name)[=\(placeholder)]"
            }
        return (short.map { "-\($0), " } ?? "    ") + long
    }
}

// MARK: Options that several commands have

extension Option {
    static let help = Option("help", short: "h", "Shows this page.")
    static let json = Option(
        "json",
        """
        Prints JSON, including errors: one object per line. Events are objects with "event"; the result is the \
        last line, and a list is a single object that contains it.
        """)
    static let profile = Option(
        "profile", .required("NAME"), "Uses this profile of the configuration file (see bellwire --help).")
    static let verbose = Option("verbose", short: "v", "Prints the library's log to standard error.")
    static let color = Option(
        "color", .required("WHEN"), "When to use colours; auto = on a terminal, unless NO_COLOR is set.",
        initial: "auto",
        choices: ["auto", "always", "never"])
    static let caFile = Option(
        "ca-file", .required("FILE"), "PEM certificates to trust for wss:// instead of the system's.")
    static let name = Option("name", .required("NAME"), "The name that the other side sees (default: the host name).")

    /// What peers may do that cannot prove who they are.
    static func legacy(_ help: String) -> Option {
        Option("legacy", .required("WHICH"), help, initial: "qr", choices: ["qr", "all", "none"])
    }

    static let deviceStateDirectory = stateDirectory("device")
    static let desktopStateDirectory = stateDirectory("desktop")

    private static func stateDirectory(_ role: String) -> Option {
        Option(
            "state-dir", .required("DIR"), "Directory for keys and database; :memory: stores nothing.",
            initial: "$XDG_STATE_HOME/bellwire/\(role)")
    }

    static let desktop = Option(
        "to", .required("DESKTOP"),
        "The desktop's name, its id or the beginning of its id; required if several are paired.")

    static func timeout(_ initial: Int, _ help: String) -> Option {
        Option("timeout", .required("SECONDS"), help, initial: "\(initial)")
    }
}
