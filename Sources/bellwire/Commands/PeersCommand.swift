extension Command {
    static let peers = Command(
        name: "peers",
        summary: "Lists the paired desktops or devices; renames and unpairs them.",
        about: [
            """
            Lists the desktops that this device is paired with; with --desktop, the devices of the desktop on this \
            machine. Each line has name, platform, whether the pairing is encrypted, the digits and words to compare, \
            when it was last seen, and its id. Give PEER as its name, its id or the beginning of its id.
            """,
            """
            With an encrypted peer, only sessions with fresh keys count after the first one, so that stolen keys open \
            nothing that was recorded. A secret from the pairing protects them too. A note says if a peer has no such \
            secret (it was paired before there was one, or runs an older release), or answers with other keys than \
            those of the pairing (a backup of one side was restored). With --json, "seal" says that, and in "version" \
            whether there was a session yet: 1 = no, 2 = yes.
            """,
            """
            An unpaired peer loses all rights at once. The peer of an encrypted pairing is notified if it can be reached \
            within --timeout; a desktop that uses another relay needs --relay-url for this. Any other peer finds out \
            when it is refused.
            """,
            """
            Only one process at a time can use a state directory. Stop a running bellwire listen or bellwire desktop \
            first.
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
