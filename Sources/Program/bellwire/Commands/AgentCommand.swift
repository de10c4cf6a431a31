extension Command {
    static let agent = Command(
        name: "agent",
        summary: "Shows pushes and reminders as alerts.",
        about: [
            """
            Connects to the paired desktops, and shows pushes and due reminders as notifications of the desktop \
            environment. The first time, it shows a notification that asks for your permission; --allow gives it \
            without the question, also after you answered "Don't allow". Ctrl-C stops it. To have it run whenever you \
            are logged in: systemctl --user enable --now bellwire-agent.
            """,
            """
            Other programs use this device at the same time, through the agent, which takes no push away from them. If \
            one of them shows alerts itself, in its own way, the agent leaves that to it until it ends.
            """,
            """
            A click on an alert opens its link in your browser if you allow it: bellwire settings --device \
            openLinks=on. Otherwise alerts have no action Open.
            """,
        ],
        operands: [],
        ownOptions: [agentAllow, agentBurst, agentLate] + DeviceSession.options,
        examples: [
            Example(line: "bellwire agent", says: "Shows alerts until Ctrl-C."),
            Example(line: "bellwire agent --allow", says: "The same, without a question."),
        ],
        run: { arguments throws(Failure) in try AgentRun.run(arguments) })

    static let agentAllow = Option(
        "allow", "Lets this device show alerts, without asking. Remembered; see alerts in bellwire settings --device.")

    static let agentBurst = Option(
        "burst", .required("N"),
        """
        How many pushes of one source may show an alert within a second, 0 to 100; one alert sums up the others. 0 = no \
        limit. Remembered; see burstLimit in bellwire settings --device.
        """, initial: "\(AgentRun.burstLimit)")

    static let agentLate = Option(
        "late", .required("WHICH"),
        """
        Which pushes that arrive late, such as those sent while this machine was off, show an alert: none, summary = \
        one alert with their number (an urgent one is shown by itself), or each.
        """, initial: "summary", choices: ["none", "summary", "each"])
}
