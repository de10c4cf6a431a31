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
            With --at the desktop sends it at that time. With --collapse it replaces the previous one with the same \
            key. The other fields, such as --image, --link and --category, shape the alert on the devices. \
            ChainlessChain desktops ignore --at and --group, and may ignore the other fields.
            """,
            """
            With --stdin it sends each line of standard input: a title, optionally followed by a body and a priority, \
            separated by tabs; with --json, an object with "title", "body" and any other field that \
            bw_notification_send() takes, such as "priority", "imageUrl" and "data". It overrides the options, which \
            apply to all lines. It waits for the answer to each line before it sends the next. If a line is malformed \
            or refused, it prints an error with the line's number and continues.
            """,
            """
            If the desktop is offline, the notification waits in the queue, for a day or for the time of --queue-for, \
            and is sent when a program that uses this device, such as bellwire listen, next reaches the desktop. With \
            --no-queue, with --stdin, or without encryption, it is not queued: if the desktop does not answer within \
            --timeout, the exit code is 3, and the notification may or may not have been shown.
            """,
        ],
        operands: [
            Operand(name: "TITLE", help: "At most 1,024 bytes; required without --title and --stdin."),
            Operand(name: "BODY", help: "- reads standard input. Above 65,536 bytes its middle is left out."),
        ],
        ownOptions: [
            sendTitle, sendMessage, sendPriority, icon, ignoreQuietHours, broadcast, toMobile, sendStdin, sendQuiet,
            .desktop, sendTimeout, noQueue, queueFor,
        ] + PushFields.options + DeviceSession.options,
        examples: [
            Example(
                line: "bellwire send \"Build done\" \"All tests passed\"", says: "Shows a notification on the desktop."),
            Example(line: "make 2>&1 | tail -n 5 | bellwire send --broadcast Build -", says: "Pushes to all devices."),
            Example(line: "bellwire send -p 5 -t Backup -m \"Disk is full\"", says: "Shows an urgent notification."),
            Example(line: "tail -f -n 0 alarms.log | bellwire send --stdin", says: "Shows each new line of a file."),
        ],
        run: { arguments throws(Failure) in try SendRun(arguments).run() })

    static let sendTitle = Option(
        "title", short: "t", .required("TITLE"), "The title, instead of the operand; the only operand is then BODY.")
    static let sendMessage = Option(
        "message", short: "m", .required("BODY"), "The body, instead of the operand; - reads it from standard input.")
    static let sendPriority = Option(
        "priority", short: "p", .required("LEVEL"),
        "low, normal, high or urgent; or 1 to 5: 1 and 2 = low, 3 = normal, 4 = high, 5 = urgent.", initial: "normal",
        choices: Priority.words)
    static let sendQuiet = Option("quiet", short: "q", "Prints nothing if it was sent.")
    static let icon = Option("icon", .required("NAME"), "The icon to show with it.")
    static let ignoreQuietHours = Option("ignore-quiet-hours", "Shows it even during the desktop's quiet hours.")
    static let broadcast = Option("broadcast", "Pushes to all devices of the desktop.")
    static let toMobile = Option(
        "to-mobile", .optional("DEVICE"), "Pushes to the device with this id; without an id, to this device.")
    static let sendStdin = Option("stdin", "Sends each line of standard input.")
    static let noQueue = Option("no-queue", "Fails if the desktop is offline, instead of queueing the notification.")
    static let queueFor = Option(
        "queue-for", .required("SECONDS"), "How long it may wait in the queue, at most a day.", initial: "86400")
    static let sendTimeout = Option.timeout(30, "How long to wait for the connection and for each answer.")
}
