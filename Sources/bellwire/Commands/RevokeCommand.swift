extension Command {
    static let revoke = Command(
        name: "revoke",
        summary: "Refuses a stolen key: its peer is unpaired, and nothing in its name is accepted.",
        about: [
            """
            Revokes the key of a desktop that this device is paired with; with --desktop, the key of a device of the \
            desktop on this machine. Give PEER as its name, its id or the beginning of its id; for a peer that is not \
            paired any more, the whole id (did:key:…). The peer is not notified. It needs a new key to be paired again.
            """,
            """
            Do this on every machine that was paired with the stolen one. --list shows the refused keys; among them \
            are those that their owners have replaced (bellwire rekey). --remove lets one be paired again.
            """,
            """
            Only one process at a time can use a state directory. Stop a running bellwire listen or bellwire desktop \
            first.
            """,
        ],
        operands: [Operand(name: "PEER", help: "Whose key to revoke.")],
        ownOptions: [revokeDesktop, revokeList, revokeRemove, revokeStateDirectory],
        examples: [
            Example(line: "bellwire revoke --desktop \"Old phone\"", says: "Refuses a stolen phone from now on."),
            Example(line: "bellwire revoke --list", says: "Lists the keys that this device refuses."),
        ],
        run: { arguments throws(Failure) in try RevokeRun(arguments).run() })

    static let revokeDesktop = Option("desktop", "Acts for the desktop on this machine, not for the device.")
    static let revokeList = Option("list", "Lists the refused keys: when, which id, which name.")
    static let revokeRemove = Option("remove", .required("ID"), "Stops refusing this key.")
    static let revokeStateDirectory = Option(
        "state-dir", .required("DIR"),
        "Directory for keys and database (default: $XDG_STATE_HOME/bellwire/device, with --desktop …/desktop).")
}
