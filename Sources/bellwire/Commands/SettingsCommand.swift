extension Command {
    static let settings = Command(
        name: "settings",
        summary: "Shows and changes the settings of a desktop, or of this device.",
        about: [
            """
            Without KEY=VALUE it prints the desktop's settings, one a line, as they can be given back: enabled, \
            quietHoursEnabled, quietHoursStart, quietHoursEnd (HH:mm, local to the desktop), soundEnabled, \
            vibrationEnabled, showPreview, and of Bellwire desktops retentionRows and retentionDays (how much history is \
            kept, 0 = all). With --stored as it told them last, also while it is away.
            """,
            """
            With KEY=VALUE it changes those that are named. A change for a desktop that is away within --timeout waits \
            in the queue (see bellwire queue). Values are true or false, also on or off, a time of day, or a number.
            """,
            """
            With --device they are this device's own, which no desktop sees and which are about its alerts alone: \
            enabled, quietHoursEnabled, quietHoursStart, quietHoursEnd, soundEnabled, showPreview, and sources.NAME and \
            categories.NAME.
            """,
        ],
        operands: [Operand(name: "KEY=VALUE", help: "What is to be changed.", repeats: true)],
        ownOptions: [ofDevice, stored] + DesktopChange.options + DeviceSession.options,
        examples: [
            Example(line: "bellwire settings --to Desk", says: "What is set there."),
            Example(
                line: "bellwire settings soundEnabled=off retentionDays=90", says: "Quieter, and for three months."),
            Example(line: "bellwire settings --device sources.mobile=off", says: "No alerts of what devices sent."),
        ],
        run: { arguments throws(Failure) in try SettingsRun(arguments).run() })

    static let ofDevice = Option("device", "Those of this device, not the desktop's.")
    static let stored = Option("stored", "Those that the desktop told last; does not connect.")
}
