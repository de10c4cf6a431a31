import CBellwire
import JSON

extension Command {
    static let run = Command(
        name: "run",
        summary: "Runs a command, and notifies the desktop when it ends.",
        about: [
            """
            Runs COMMAND with its ARGUMENTs, and afterwards sends a notification that says how it ended and how long it \
            took; the priority is high if it failed. The command uses the terminal, standard input and output as if it \
            had been started directly. The exit code is the command's, or 128 and the number of the signal that ended \
            it, also if the notification could not be sent; standard error says so then. While an encrypted desktop \
            is away, the notification waits in the queue for a day.
            """,
            """
            If COMMAND cannot be started, the exit code is 127 or 126, and nothing is sent. Write -- before COMMAND, so \
            that its options are not taken for those of bellwire.
            """,
        ],
        operands: [
            Operand(name: "COMMAND", help: "The program, looked for in PATH.", isRequired: true),
            Operand(name: "ARGUMENT", help: "Its arguments.", repeats: true),
        ],
        ownOptions: [runTitle, runAfter, runBroadcast, .desktop, sendTimeout] + DeviceSession.options,
        examples: [
            Example(line: "bellwire run -- make -j 4", says: "Notifies when the build has ended."),
            Example(
                line: "bellwire run --broadcast --after 60 -- ./backup.sh",
                says: "Pushes to all devices, unless it ends well within a minute."),
        ],
        run: { arguments throws(Failure) in try CommandRun(arguments).run() })

    static let runTitle = Option("title", short: "t", .required("TITLE"), "The title (default: the command's words).")
    static let runAfter = Option(
        "after", .required("SECONDS"), "Sends nothing if the command succeeds within this time, 1 to 86400.")
    static let runBroadcast = Option("broadcast", "Pushes to all devices of the desktop.")
}
