extension Command {
    static let status = Command(
        name: "status",
        summary: "Shows the state of this machine's device and desktop, and what is wrong with it.",
        about: [
            """
            Shows whether the device and the desktop on this machine run and in which program, their peers, the \
            connections and the relay that each uses, the queue, the permission for alerts, and the agent. Then lists \
            what is wrong, with what to do about it. Connects to nothing and changes nothing.
            """,
            """
            With --json, prints an object with "version", "device" and "desktop" (null = there is none on this \
            machine), and "problems", a list of objects with "role", "message" and "advice".
            """,
        ],
        operands: [],
        ownOptions: [onlyDevice, onlyDesktop, roleDirectory],
        examples: [
            Example(line: "bellwire status", says: "Shows both."),
            Example(
                line: "bellwire status --device --json | jq -r '.problems[].message'",
                says: "Prints what is wrong with the device."),
        ],
        run: { arguments throws(Failure) in try StatusRun(arguments).run() })
}
