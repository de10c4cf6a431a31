import CBellwire
import JSON

extension Command {
    static let queue = Command(
        name: "queue",
        summary: "Shows and changes what waits for the desktops: marks, deletions, settings.",
        about: [
            """
            Changes that bellwire inbox, settings and quiet made while their desktop was away wait in this device's \
            store, and are carried out in their order when the desktop is there: with the next command that connects to \
            it, or with run. Lists them, the oldest first: state (pending, sending, failed), tries, when it was given, \
            method, id, and what went wrong. With --json an object for each.
            """,
            """
            What the desktop has refused, what was sent three times without an answer, and what is 24 hours old has \
            failed; it stays until it is retried or cleared.
            """,
        ],
        operands: [
            Operand(
                name: "ACTION",
                help: """
                    list (so without any); run connects and waits until the desktops have what waits, for --timeout at \
                    most; retry lets the failed ones, or those named, wait again; remove takes out those named; clear \
                    the failed ones.
                    """,
                choices: ["list", "run", "retry", "remove", "clear"]),
            Operand(name: "ID", help: "With retry and remove: an id or the beginning of it.", repeats: true),
        ],
        ownOptions: [queueTimeout] + DeviceSession.options,
        examples: [
            Example(line: "bellwire queue", says: "What waits."),
            Example(line: "bellwire queue run --timeout 60", says: "Carries it out; exit code 3 if some still waits."),
        ],
        run: { arguments throws(Failure) in try QueueRun(arguments).run() })

    static let queueTimeout = Option.timeout(30, "With run: how long to wait for the desktops.")
}
