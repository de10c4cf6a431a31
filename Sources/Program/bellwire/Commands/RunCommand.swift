import CBellwire
import JSON

extension Command {
    static let run = Command(
        name: "run",
        summary: "Runs a command, and notifies the desktop when it ends.",
        about: [
            """
            Runs COMMAND with its ARGUMENTs, and afterwards sends a notification that says how it ended and how long \
            it took; the priority is high if it failed. The command uses the terminal, standard input and output as if \
            it had been started directly. The exit code is the command's, or 128 plus the number of the signal that \
            ended it. This is so even if the notification could not be sent; an error is then printed to standard \
            error. While an encrypted desktop is offline, the notification waits in the queue for a day.
            """,
            """
            If COMMAND cannot be started, the exit code is 127 or 126, and nothing is sent. Write -- before COMMAND, \
            so that bellwire does not interpret the command's options. With --json it prints, on standard error, an \
            object with "code", "milliseconds" and "notification", the answer; the last is missing if nothing was sent.
            """,
        ],
        operands: [
            Operand(name: "COMMAND", help: "The program, searched in PATH.", isRequired: true),
            Operand(name: "ARGUMENT", help: "Its arguments.", repeats: true),
        ],
        ownOptions: [runTitle, runAfter, runBroadcast, .desktop, sendTimeout] + DeviceSession.options,
        examples: [
            Example(line: "bellwire run -- make -j 4", says: "Notifies when the build has ended."),
            Example(
                line: "bellwire run --broadcast --after 60 -- ./backup.sh",
                says: "Pushes to all devices, unless it succeeds within a minute."),
        ],
        run: { arguments throws(Failure) in try CommandRun(arguments).run() })

    static let runTitle = Option("title", short: "t", .required("TITLE"), "The title (default: the command line).")
    static let runAfter = Option(
        "after", .required("SECONDS"), "Sends nothing if the command succeeds within this time, 1 to 86400.")
    static let runBroadcast = Option("broadcast", "Pushes to all devices of the desktop.")
}
