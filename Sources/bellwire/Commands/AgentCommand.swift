extension Command {
    static let agent = Command(
        name: "agent",
        summary: "Shows pushes and reminders as alerts while no other program runs.",
        about: [
            """
            Connects to the paired desktops, and shows pushes and due reminders as notifications of the desktop \
            environment. The first time, it shows a notification that asks for your permission. Ctrl-C stops it. To \
            have it run whenever you are logged in: systemctl --user enable --now bellwire-agent.
            """,
            """
            When another program uses this device, the agent disconnects, and reconnects when that program has ended. \
            Pushes that only the agent has shown still reach the next bellwire listen, or any other program.
            """,
        ],
        operands: [],
        ownOptions: [agentLate] + DeviceSession.options,
        examples: [Example(line: "bellwire agent", says: "Shows alerts until Ctrl-C.")],
        run: { arguments throws(Failure) in try AgentRun(arguments).run() })

    static let agentLate = Option(
        "late", .required("WHICH"),
        """
        Which pushes that arrive late, such as those sent while this machine was off, show an alert: none, summary = \
        one alert with their number, or each.
        """, initial: "summary", choices: ["none", "summary", "each"])
}
