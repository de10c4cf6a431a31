import CBellwire
import JSON

extension Command {
    static let send = Command(
        name: "send",
        summary: "Sends a notification through a paired desktop.",
        about: [
            """
            Shows a notification on the paired desktop, which keeps it in its history and pushes it to its devices, this \
            one as well. With --broadcast it is pushed to them without being shown on the desktop, with --to-mobile to \
            one of them.
            """,
            """
            With --stdin each line of standard input is one: a title, which a body and a priority may follow, with tabs \
            between them; with --json, an object with "title", "body", "priority", "icon" and "respectQuietHours". They \
            are sent one after the other, each when the one before was answered; what is refused is said, and the next \
            one goes out.
            """,
            """
            Nothing is kept for later: what the desktop has not answered within --timeout is exit code 3, and may or may \
            not have been shown. (Changes of the inbox and of settings do wait for their desktop: see bellwire queue.)
            """,
        ],
        operands: [
            Operand(name: "TITLE", help: "At most 1,024 bytes; without --stdin it is needed."),
            Operand(name: "BODY", help: "At most 65,536 bytes; - reads it from standard input."),
        ],
        ownOptions: [
            sendPriority, icon, ignoreQuietHours, broadcast, toMobile, sendStdin, .desktop, sendTimeout,
        ] + DeviceSession.options,
        examples: [
            Example(line: "bellwire send \"Build done\" \"All tests passed\"", says: "Shows it on the desktop."),
            Example(line: "make 2>&1 | tail -n 5 | bellwire send --broadcast Build -", says: "Pushes to all devices."),
            Example(line: "tail -f -n 0 alarms.log | bellwire send --stdin", says: "Shows each new line of a file."),
        ],
        run: { arguments throws(Failure) in try SendRun(arguments).run() })

    static let sendPriority = Option(
        "priority", .required("LEVEL"), "low, normal, high or urgent.", initial: "normal",
        choices: HistoryFilter.priorities)
    static let icon = Option("icon", .required("NAME"), "The icon that the desktop shows with it.")
    static let ignoreQuietHours = Option("ignore-quiet-hours", "Shown also in the desktop's quiet hours.")
    static let broadcast = Option("broadcast", "Pushes to all devices of the desktop.")
    static let toMobile = Option(
        "to-mobile", .optional("DEVICE"), "Pushes to the device with this id; without an id, to this one.")
    static let sendStdin = Option("stdin", "Sends each line of standard input.")
    static let sendTimeout = Option.timeout(30, "How long to wait for the connection and each answer.")
}
