extension Command {
    static let doctor = Command(
        name: "doctor",
        summary: "Checks this machine for what keeps Bellwire from working, and says what to do.",
        about: [
            """
            Checks the state directories and the files in them, the clock, variables for proxies, the ports that a \
            desktop needs, the session bus with its notification server, Avahi, and each relay that the device and the \
            desktop use: name, connection, certificate and WebSocket upgrade. Prints a line for each check: ok, warn for \
            what may be intended, or fail, with what to do.
            """,
            """
            It changes nothing and registers nowhere. Each check ends within --timeout. The exit code is 1 if a check \
            fails. See also bellwire status, which shows what the running programs know.
            """,
            """
            With --json, prints an object with "checks", a list of objects with "check", "state" (ok, warn or fail), \
            "message" and, if there is something to do, "advice".
            """,
        ],
        operands: [],
        ownOptions: [
            doctorDevice, doctorDesktop, roleDirectory, doctorRelayURL, doctorRelay, doctorTimeout, .caFile,
        ],
        examples: [
            Example(line: "bellwire doctor", says: "Checks everything."),
            Example(
                line: "bellwire doctor --relay-url wss://relay.example.org",
                says: "Also checks a relay before anything is paired over it."),
            Example(
                line: "bellwire doctor --json | jq -r '.checks[].advice // empty'",
                says: "Prints what to do."),
        ],
        run: { arguments throws(Failure) in try DoctorRun(arguments).run() })

    /// These are ``onlyDevice`` and ``onlyDesktop`` in other words.
    static let doctorDevice = Option("device", "Only the device, without the desktop.")
    static let doctorDesktop = Option("desktop", "Only the desktop, without the device.")
    static let doctorRelayURL = Option("relay-url", .required("URL"), "Also checks this relay.")
    static let doctorRelay = Option(
        "relay", .required("HOST:PORT"), "The address where bellwire desktop runs its relay.",
        initial: "127.0.0.1:9001")
    static let doctorTimeout = Option.timeout(5, "How long each check may take.")
}
