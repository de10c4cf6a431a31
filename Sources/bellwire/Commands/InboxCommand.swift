extension Command {
    static let inbox = Command(
        name: "inbox",
        summary: "Shows what this device knows of its desktops' notifications; marks and deletes them.",
        about: [
            """
            Lists the notifications of all paired desktops, or of that of --to, out of this device's store: at once, \
            and also while the desktops are away. A line for each, newest first: * where it is unread, time, priority, \
            source, title, body, id. With --json, an object with "notifications", "total", "unread" and "loading".
            """,
            """
            read and delete take IDs or the beginnings of them; read --all and clear concern all notifications of one \
            desktop. What is changed here is changed on the desktop, too: at once, or where it is away within --timeout \
            as soon as it is there again. Such a change waits in the queue, see bellwire queue. refresh fetches what \
            the desktops have.
            """,
            "One process at a time holds a device's state directory: end a running bellwire listen first.",
        ],
        operands: [
            Operand(
                name: "ACTION", help: "list (so without any), refresh, read, delete or clear.",
                choices: ["list", "refresh", "read", "delete", "clear"]),
            Operand(name: "ID", help: "With read and delete: which notifications.", repeats: true),
        ],
        ownOptions: [inboxAll] + HistoryFilter.options + DesktopChange.options + DeviceSession.options,
        examples: [
            Example(line: "bellwire inbox --unread", says: "What nobody has read."),
            Example(line: "bellwire inbox --search invoice --json | jq -r '.notifications[].id'", says: "Their ids."),
            Example(line: "bellwire inbox read --all --to Desk", says: "Marks all of one desktop."),
        ],
        run: { arguments throws(Failure) in try InboxRun(arguments).run() })

    static let inboxAll = Option("all", "With read: all notifications of the desktop.")
}
