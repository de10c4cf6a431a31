extension Command {
    static let push = Command(
        name: "push",
        summary: "Pushes a notification from this machine's desktop to its devices.",
        about: [
            """
            Pushes through the bellwire desktop that runs with this state directory. If none runs, the desktop's files \
            keep the push, and it goes out at the desktop's next start. It prints the notification's id once it is stored.
            """,
            """
            A push with --collapse replaces the one before with the same key. With --at the desktop keeps it until then; \
            --scheduled lists such pushes. --withdraw takes back a push: a scheduled one is not sent, and devices that have \
            the notification delete it.
            """,
        ],
        operands: [
            Operand(name: "TITLE", help: "At most 1,024 bytes; required without --title, --scheduled and --withdraw."),
            Operand(name: "BODY", help: "At most 65,536 bytes; - reads it from standard input."),
        ],
        ownOptions: [
            sendTitle, sendMessage, sendPriority, pushDevice, ignoreQuietHours, pushWithdraw, pushScheduled, sendQuiet,
            .desktopStateDirectory,
        ] + PushFields.options,
        examples: [
            Example(line: "bellwire push \"Backup done\" \"All disks\"", says: "Pushes to all devices."),
            Example(line: "bellwire push --group family --at 18:00 \"Dinner\"", says: "Pushes to a group at six."),
            Example(
                line: "bellwire push --collapse disk --expires 1h \"Disk 91 % full\"",
                says: "Replaces the push before, and is dropped by devices that are away for an hour."),
        ],
        run: { arguments throws(Failure) in try DesktopPushRun(arguments).run() })

    static let pushDevice = Option("device", .required("DEVICE"), "Pushes to the device with this id only.")
    static let pushGroup = Option(
        "group", .required("GROUP"), "Pushes to a group of the desktop's devices (see bellwire group).")
    static let pushAt = Option(
        "at", .required("WHEN"), "Pushes later: in 30m, 2h or 1d, or at 18:00 or \"2030-01-31 18:00\"; within 366 days."
    )
    static let pushExpires = Option(
        "expires", .required("WHEN"), "Devices that do not get it by then never get it; written like --at.")
    static let pushCollapse = Option("collapse", .required("KEY"), "Replaces the last push with this key.")
    static let pushImage = Option("image", .required("URL"), "An https image for the alert.")
    static let pushLink = Option("link", .required("URL"), "A link that is passed to the program on the device.")
    static let pushCategory = Option(
        "category", .required("NAME"), "The category of the device that gives the alert its buttons.")
    static let pushThread = Option("thread", .required("NAME"), "Alerts with the same name are grouped.")
    static let pushWithdraw = Option("withdraw", .required("ID"), "Takes back the push with this id.")
    static let pushScheduled = Option("scheduled", "Lists the pushes that wait for their time.")
}
