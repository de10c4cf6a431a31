import CBellwire
import JSON

extension Command {
    static let queue = Command(
        name: "queue",
        summary: "Shows and manages changes that wait for an offline desktop.",
        about: [
            """
            Changes made by bellwire inbox, settings and quiet, and notifications of bellwire send, are stored in a \
            queue while their desktop is offline. They are sent in order once it is reachable: by the next command \
            that connects to it, or by run. list shows them, oldest first: state (pending, sending, failed), attempts, \
            creation time, method, id and error. With --json it prints an object with the list "changes". run prints an \
            event queue.ended for each, and at the end the list of those that are left.
            """,
            """
            A change fails if the desktop refuses it, after three attempts without an answer, or after 24 hours. \
            Failed changes stay until you retry or clear them.
            """,
        ],
        operands: [
            Operand(
                name: "ACTION",
                help: """
                    list (default); run connects and waits up to --timeout until all changes are sent; retry makes \
                    failed changes (all, or those with these IDs) pending again; remove deletes those with these \
                    IDs; clear deletes all failed ones.
                    """,
                choices: ["list", "run", "retry", "remove", "clear"]),
            Operand(name: "ID", help: "With retry and remove: an id or its beginning.", repeats: true),
        ],
        ownOptions: [queueTimeout] + DeviceSession.options,
        examples: [
            Example(line: "bellwire queue", says: "Lists the queued changes."),
            Example(line: "bellwire queue run --timeout 60", says: "Sends them; exit code 3 if some still wait."),
        ],
        run: { arguments throws(Failure) in try QueueRun(arguments).run() })

    static let queueTimeout = Option.timeout(30, "With run: how long to wait for the desktops.")
}
