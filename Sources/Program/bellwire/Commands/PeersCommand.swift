extension Command {
    static let peers = Command(
        name: "peers",
        summary: "Lists the paired desktops or devices; renames and unpairs them.",
        about: [
            """
            Lists the desktops that this device is paired with; with --desktop, the devices of the desktop on this \
            machine. Each line has name, platform, whether the pairing is encrypted, the digits and words to compare, \
            when it was last seen, and its id. PEER is a peer's name, its id or the beginning of its id.
            """,
            """
            Encrypted peers use sessions with fresh keys, so someone who steals a key cannot decrypt recorded traffic. \
            A secret from the pairing protects the sessions as well. A note is shown if there is no such secret, \
            because one side did not offer sessions while pairing (update both and pair again), or if a peer answers \
            with different keys than those of the pairing (a backup of one side was restored: pair again). With \
            --json, "seal" contains this; its "version" is 2 once there has been a session, before that 1.
            """,
            """
            An unpaired peer loses all rights at once. An encrypted peer is notified if it can be reached within \
            --timeout. For a desktop that is not running this requires --relay-url. Other peers are not notified; \
            their messages are refused.
            """,
        ],
        operands: [Operand(name: "NAME", help: "With --rename: the new name, 1 to 256 bytes.")],
        ownOptions: [
            peersDevice, peersDesktop, peersNames, peersRename, peersUnpair, peersClear, peersRelay, peersTimeout,
            peersStateDirectory, .caFile,
        ],
        examples: [
            Example(line: "bellwire peers", says: "Lists the desktops of this device."),
            Example(
                line: "bellwire peers --rename Desk \"Desk at work\"", says: "Renames a desktop, on this machine only."),
            Example(line: "bellwire peers --desktop --unpair \"Old phone\"", says: "Ends the pairing with a device."),
        ],
        run: { arguments throws(Failure) in try PeersRun(arguments).run() })

    static let peersDevice = Option("device", "Lists the desktops of this device (default).")
    static let peersDesktop = Option("desktop", "Lists the devices of the desktop on this machine.")
    static let peersNames = Option("names", "Prints only the names, one per line.")
    static let peersRename = Option("rename", .required("PEER"), "Renames the peer to NAME, on this machine only.")
    static let peersUnpair = Option("unpair", .required("PEER"), "Ends the pairing.")
    static let peersClear = Option("clear", "Ends all pairings.")
    static let peersRelay = Option(
        "relay-url", .required("URL"), "With --desktop: the relay that the devices use, to notify them.")
    static let peersTimeout = Option.timeout(5, "How long to wait for a connection to the unpaired peer.")
    static let peersStateDirectory = Option(
        "state-dir", .required("DIR"),
        "Directory for keys and database (default: $XDG_STATE_HOME/bellwire/device, with --desktop …/desktop).")
}
