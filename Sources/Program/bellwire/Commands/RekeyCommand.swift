extension Command {
    static let rekey = Command(
        name: "rekey",
        summary: "Moves this machine to a new key without pairing again; accepts new keys of peers.",
        about: [
            """
            Without an option, starts moving this device to a new key, or continues; with --desktop, it moves the \
            desktop on this machine. Every paired machine's user is asked to accept the new key. The command waits up \
            to --timeout for all answers, switches to the new key, and notifies the other machines. It prints a line \
            for each machine that has answered, and which it waits for; with --json, an event rekey.changed with the \
            status after each change, and at the end the status. Until then \
            everything works with the old key; afterwards the old key, and any copy of it, is refused. If not all have \
            answered in time, the exit code is 3; run the command again later. To continue without a peer, end its \
            pairing (bellwire peers --unpair).
            """,
            """
            To move to another machine, stop Bellwire, move the state directory, and run this command there.
            """,
            """
            --status shows the progress of the move, and which peers are moving to new keys themselves. Compare the \
            new id with the one that the other machine shows before you --accept it: anyone who has a copy of the \
            peer's key can ask.
            """,
            """
            To start a move, the command needs the state directory to itself: stop bellwire desktop, bellwire agent and \
            other programs first. --status, --cancel, --accept and --decline also work beside them.
            """,
        ],
        operands: [],
        ownOptions: [
            rekeyDesktop, rekeyStatus, rekeyCancel, rekeyAccept, rekeyDecline, rekeyRelay, rekeyTimeout,
            rekeyStateDirectory, .caFile,
        ],
        examples: [
            Example(line: "bellwire rekey --timeout 600", says: "Replaces the key of this device."),
            Example(line: "bellwire rekey --desktop --status", says: "Shows the devices that ask to move."),
            Example(line: "bellwire rekey --desktop --accept Phone", says: "Accepts the new key of a device."),
        ],
        run: { arguments throws(Failure) in try RekeyRun(arguments).run() })

    static let rekeyDesktop = Option("desktop", "Acts for the desktop on this machine, not for the device.")
    static let rekeyStatus = Option("status", "Shows the state of the move, and peers that ask to move.")
    static let rekeyCancel = Option("cancel", "Cancels the move and deletes the new key.")
    static let rekeyAccept = Option("accept", .required("PEER"), "Accepts the new key of this peer.")
    static let rekeyDecline = Option("decline", .required("PEER"), "Declines the new key of this peer.")
    static let rekeyRelay = Option(
        "relay-url", .required("URL"), "With --desktop: the relay that the devices use.")
    static let rekeyTimeout = Option.timeout(60, "How long to wait for the other machines.")
    static let rekeyStateDirectory = Option(
        "state-dir", .required("DIR"),
        "Directory for keys and database (default: $XDG_STATE_HOME/bellwire/device, with --desktop …/desktop).")
}
