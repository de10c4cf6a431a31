extension Command {
    static let settings = Command(
        name: "settings",
        summary: "Shows and changes the settings of a desktop or of this device.",
        about: [
            """
            Without KEY=VALUE it prints the desktop's settings, one per line, in the form it accepts: enabled, \
            quietHoursEnabled, quietHoursStart, quietHoursEnd (HH:mm in the desktop's time zone), soundEnabled, \
            vibrationEnabled, showPreview; Bellwire desktops also have retentionRows and retentionDays (how much \
            history to keep, 0 = all). With --stored it prints the last known settings, also while the desktop is \
            offline.
            """,
            """
            With KEY=VALUE it changes these settings. If the desktop is not reachable within --timeout, the change \
            waits in the queue (see bellwire queue). A value is true or false (or on, off), a time of day, or a \
            number.
            """,
            """
            With --device it shows or changes this device's own alert settings, which no desktop sees: alerts \
            (allowed or denied: your permission, also after you have answered the agent's question; ask = the agent \
            asks again), enabled, quietHoursEnabled, quietHoursStart, quietHoursEnd, soundEnabled, showPreview, \
            burstLimit (how many pushes of one source may show an alert within a second; 0 = no limit), openLinks \
            (whether the agent opens the link of an alert that you click), sources.NAME and categories.NAME.
            """,
        ],
        operands: [Operand(name: "KEY=VALUE", help: "A setting and its new value.", repeats: true)],
        ownOptions: [ofDevice, stored] + DesktopChange.options + DeviceSession.options,
        examples: [
            Example(line: "bellwire settings --to Desk", says: "Shows the settings of the desktop named Desk."),
            Example(
                line: "bellwire settings soundEnabled=off retentionDays=90",
                says: "Turns sounds off and keeps the history for 90 days."),
            Example(
                line: "bellwire settings --device alerts=allowed",
                says: "Lets this device show alerts, also after \"Don't allow\"."),
            Example(
                line: "bellwire settings --device sources.mobile=off",
                says: "Turns off alerts for notifications that devices sent."),
        ],
        run: { arguments throws(Failure) in try SettingsRun(arguments).run() })

    static let ofDevice = Option("device", "Uses this device's own settings, not the desktop's.")
    static let stored = Option("stored", "Shows the last known settings without connecting.")
}
