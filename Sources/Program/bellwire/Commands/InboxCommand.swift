extension Command {
    static let inbox = Command(
        name: "inbox",
        summary: "Lists the notifications stored on this device; marks and deletes them.",
        about: [
            """
            Lists the notifications of all paired desktops (or of the one given with --to) from this device's store. \
            It needs no connection. Each line has * if unread, time, priority, source, title, body and id, newest \
            first. With --json it prints an object with "notifications", "total", "unread" and "loading".
            """,
            """
            read and delete take IDs or their beginnings. read --all and clear apply to all notifications of one \
            desktop. Changes are also made on the desktop. If it is not reachable within --timeout, the change waits \
            in the queue (see bellwire queue). refresh fetches the current state from the desktops.
            """,
        ],
        operands: [
            Operand(
                name: "ACTION", help: "list (default), refresh, read, delete or clear.",
                choices: ["list", "refresh", "read", "delete", "clear"]),
            Operand(name: "ID", help: "With read and delete: the notifications.", repeats: true),
        ],
        ownOptions: [inboxAll] + HistoryFilter.options + DesktopChange.options + DeviceSession.options,
        examples: [
            Example(line: "bellwire inbox --unread", says: "Unread notifications."),
            Example(
                line: "bellwire inbox --search invoice --json | jq -r '.notifications[].id'",
                says: "The ids of matching notifications."),
            Example(
                line: "bellwire inbox read --all --to Desk", says: "Marks all notifications of one desktop as read."),
        ],
        run: { arguments throws(Failure) in try InboxRun(arguments).run() })

    static let inboxAll = Option("all", "With read: marks all notifications of the desktop.")
}
