import CBellwire
import JSON

extension Command {
    static let send = Command(
        name: "send",
        summary: "Sends a notification through a paired desktop.",
        about: [
            """
            Shows a notification on the paired desktop. The desktop stores it in its history and pushes it to its \
            devices, including this one. With --broadcast the desktop pushes it to all devices without showing it; \
            with --to-mobile, to one of them.
            """,
            """
            With --stdin it sends each line of standard input: a title, optionally followed by a body and a priority, \
            separated by tabs; with --json, an object with "title", "body", "priority", "icon" and \
            "respectQuietHours". It waits for the answer to each line before it sends the next. If a line is refused, \
            it prints an error and continues.
            """,
            """
            Notifications are not queued. If the desktop does not answer within --timeout, the exit code is 3, and the \
            notification may or may not have been shown. (Changes to the inbox and to settings are queued: see \
            bellwire queue.)
            """,
        ],
        operands: [
            Operand(name: "TITLE", help: "At most 1,024 bytes; required without --stdin."),
            Operand(name: "BODY", help: "At most 65,536 bytes; - reads it from standard input."),
        ],
        ownOptions: [
            sendPriority, icon, ignoreQuietHours, broadcast, toMobile, sendStdin, .desktop, sendTimeout,
        ] + DeviceSession.options,
        examples: [
            Example(
                line: "bellwire send \"Build done\" \"All tests passed\"", says: "Shows a notification on the desktop."),
            Example(line: "make 2>&1 | tail -n 5 | bellwire send --broadcast Build -", says: "Pushes to all devices."),
            Example(line: "tail -f -n 0 alarms.log | bellwire send --stdin", says: "Shows each new line of a file."),
        ],
        run: { arguments throws(Failure) in try SendRun(arguments).run() })

    static let sendPriority = Option(
        "priority", .required("LEVEL"), "low, normal, high or urgent.", initial: "normal",
        choices: HistoryFilter.priorities)
    static let icon = Option("icon", .required("NAME"), "The icon to show with it.")
    static let ignoreQuietHours = Option("ignore-quiet-hours", "Shows it even during the desktop's quiet hours.")
    static let broadcast = Option("broadcast", "Pushes to all devices of the desktop.")
    static let toMobile = Option(
        "to-mobile", .optional("DEVICE"), "Pushes to the device with this id; without an id, to this device.")
    static let sendStdin = Option("stdin", "Sends each line of standard input.")
    static let sendTimeout = Option.timeout(30, "How long to wait for the connection and for each answer.")
}
