extension Command {
    static let revoke = Command(
        name: "revoke",
        summary: "Revokes a stolen key: unpairs its peer and refuses everything in its name.",
        about: [
            """
            Revokes the key of a desktop that this device is paired with; with --desktop, the key of a device of the \
            desktop on this machine. PEER is a peer's name, its id or the beginning of its id; for a peer that is no \
            longer paired, the whole id (did:key:…). The peer is not notified. It needs a new key before it can be \
            paired again.
            """,
            """
            Do this on every machine that was paired with the stolen one. --list shows the refused keys, including \
            those that their owners have replaced (bellwire rekey). --remove allows a key to be paired again.
            """,
        ],
        operands: [Operand(name: "PEER", help: "The peer whose key to revoke.")],
        ownOptions: [revokeDesktop, revokeList, revokeRemove, revokeStateDirectory],
        examples: [
            Example(line: "bellwire revoke --desktop \"Old phone\"", says: "Revokes the key of a stolen phone."),
            Example(line: "bellwire revoke --list", says: "Lists the keys that this device refuses."),
        ],
        run: { arguments throws(Failure) in try RevokeRun(arguments).run() })

    static let revokeDesktop = Option("desktop", "Acts for the desktop on this machine, not for the device.")
    static let revokeList = Option("list", "Lists the refused keys: time, id and name.")
    static let revokeRemove = Option("remove", .required("ID"), "Stops refusing this key.")
    static let revokeStateDirectory = Option(
        "state-dir", .required("DIR"),
        "Directory for keys and database (default: $XDG_STATE_HOME/bellwire/device, with --desktop …/desktop).")
}
