extension Command {
    static let peers = Command(
        name: "peers",
        summary: "Lists the paired desktops or devices; renames and unpairs them.",
        about: [
            """
            Lists the desktops that this device is paired with, or with --desktop the devices of the desktop on this \
            machine: name, platform, whether the pairing is sealed, the digits and words to compare, when it was seen \
            last, id. A PEER is said by its name, its id or the beginning of it.
            """,
            """
            Whoever is unpaired has no rights from then on. A peer that was paired sealed is told, where it can be \
            reached within --timeout; a desktop that runs at a relay of others needs --relay-url for that. Any other \
            finds out by itself.
            """,
            "One process at a time holds a state directory: end a running bellwire listen or bellwire desktop first.",
        ],
        operands: [Operand(name: "NAME", help: "With --rename: the new name, of 1 to 256 bytes.")],
        ownOptions: [
            peersDevice, peersDesktop, peersNames, peersRename, peersUnpair, peersClear, peersRelay, peersTimeout,
            peersStateDirectory, .caFile,
        ],
        examples: [
            Example(line: "bellwire peers", says: "Lists the desktops of this device."),
            Example(
                line: "bellwire peers --rename Desk \"Desk at work\"", says: "Calls a desktop something else, here."),
            Example(line: "bellwire peers --desktop --unpair \"Old phone\"", says: "Ends what a device may do."),
        ],
        run: { arguments throws(Failure) in try PeersRun(arguments).run() })

    static let peersDevice = Option("device", "This device's desktops; so without either of the two.")
    static let peersDesktop = Option("desktop", "The devices of the desktop on this machine.")
    static let peersNames = Option("names", "Prints the names alone, one a line.")
    static let peersRename = Option("rename", .required("PEER"), "Gives it the name NAME, here only.")
    static let peersUnpair = Option("unpair", .required("PEER"), "Ends the pairing.")
    static let peersClear = Option("clear", "Ends all pairings.")
    static let peersRelay = Option(
        "relay-url", .required("URL"), "With --desktop: the relay at which the devices are, to tell them.")
    static let peersTimeout = Option.timeout(5, "How long to wait for the connection to whom is unpaired.")
    static let peersStateDirectory = Option(
        "state-dir", .required("DIR"),
        "Where keys and database are kept (default: $XDG_STATE_HOME/bellwire/device, with --desktop …/desktop).")
}
