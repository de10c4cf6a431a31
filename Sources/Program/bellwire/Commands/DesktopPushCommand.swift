extension Command {
    static let push = Command(
        name: "push",
        summary: "Pushes a notification from this machine's desktop to its devices.",
        about: [
            """
            Pushes through the bellwire desktop that is running with this state directory. If none is running, the \
            push is stored and sent at the desktop's next start. Prints the notification's id once it is stored.
            """,
            """
            A push with --collapse replaces the previous one with the same key. With --at the desktop sends it at that \
            time; --scheduled lists such pushes. --withdraw cancels a push: a scheduled one is not sent, and devices \
            that already have it delete it.
            """,
        ],
        operands: [
            Operand(name: "TITLE", help: "At most 1,024 bytes; required without --title, --scheduled and --withdraw."),
            Operand(name: "BODY", help: "- reads standard input. Above 65,536 bytes its middle is left out."),
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
                says: "Replaces the previous push; devices that are offline for an hour don't get it."),
        ],
        run: { arguments throws(Failure) in try DesktopPushRun(arguments).run() })

    static let pushDevice = Option("device", .required("DEVICE"), "Pushes to the device with this id only.")
    static let pushGroup = Option(
        "group", .required("GROUP"), "Pushes to a group of the desktop's devices (see bellwire group).")
    static let pushAt = Option(
        "at", .required("WHEN"), "Pushes later: in 30m, 2h or 1d, or at 18:00 or \"2030-01-31 18:00\"; within 366 days."
    )
    static let pushExpires = Option(
        "expires", .required("WHEN"), "Devices that have not received it by then don't get it; same format as --at.")
    static let pushCollapse = Option("collapse", .required("KEY"), "Replaces the last push with this key.")
    static let pushImage = Option("image", .required("URL"), "An https image for the alert.")
    static let pushLink = Option("link", .required("URL"), "A link that is passed to the program on the device.")
    static let pushCategory = Option(
        "category", .required("NAME"), "The alert category on the device, which defines the buttons and replies.")
    static let pushThread = Option("thread", .required("NAME"), "Alerts with the same name are grouped.")
    static let pushSubtitle = Option("subtitle", .required("TITLE"), "A second, shorter title of the alert.")
    static let pushSound = Option(
        "sound", .required("NAME"), "The alert's sound: default, or a name from the device's sound theme.")
    static let pushButton = Option(
        "button", .required("LABEL=URL"),
        "A link that bellwire-tray shows as a button; up to three. The buttons of alerts come from --category.")
    static let pushBadge = Option("badge", .required("N"), "The number on the icon of the program on the device.")
    static let pushSilent = Option("silent", "Stores it in the histories and inboxes without showing an alert.")
    static let pushData = Option(
        "data", .required("NAME=TEXT"),
        "A member of \"data\" for the program on the device. May be given several times.")
    static let pushWithdraw = Option("withdraw", .required("ID"), "Cancels the push with this id.")
    static let pushScheduled = Option("scheduled", "Lists scheduled pushes.")
}
