extension Command {
    static let backup = Command(
        name: "backup",
        summary: "Saves this machine's device and desktop in a file.",
        about: [
            """
            Writes keys, pairings, databases, tokens and the configuration file into FILE, a tar archive that only you can \
            read. Programs can continue to use them: each database is copied as it is at one moment. It refuses to write over \
            an existing file. The state of bellwire relay is not included.
            """,
            """
            FILE contains the keys. Anyone who has it can act as this device and this desktop, so keep it like a password. \
            The page of bellwire restore describes what a restored copy does.
            """,
        ],
        operands: [Operand(name: "FILE", help: "The file to create.", isRequired: true)],
        ownOptions: [onlyDevice, onlyDesktop, roleDirectory],
        examples: [
            Example(line: "bellwire backup bellwire-$(date +%F).tar", says: "Saves everything."),
            Example(line: "bellwire backup --desktop desk.tar", says: "Saves only the desktop."),
        ],
        run: { arguments throws(Failure) in try BackupRun(arguments).run() })

    static let restore = Command(
        name: "restore",
        summary: "Puts a device and a desktop back from a file of bellwire backup.",
        about: [
            """
            Checks all of FILE, and then puts the device and the desktop that it contains in their state directories. Where \
            there is one already, it refuses, unless you pass --replace: the state before is then kept beside the directory \
            as DIR.replaced-TIME. No program may use the directories at that time. The configuration file is put back if it \
            is missing.
            """,
            """
            A restored device or desktop continues with its peers, and new sessions begin. Never use it on two machines at \
            the same time: to every relay they are the same peer. Everything after the backup is unknown to it: pair again \
            what was paired since; unpair or revoke again what was unpaired or revoked since (bellwire revoke), and likewise \
            tokens. A backup from before a move to a new key (bellwire rekey) has the old key, which peers refuse: pair again. \
            Notifications since then are missing from a desktop's history, and some may arrive a second time, as may changes in the queue and \
            scheduled notifications.
            """,
            """
            Messages of sessions cannot be played back to it. If the backup is from before the first session with a peer, or \
            a peer uses none, a relay that has kept old messages can: pair with that peer again.
            """,
        ],
        operands: [Operand(name: "FILE", help: "A file of bellwire backup.", isRequired: true)],
        ownOptions: [restoreReplace, restoreCheck, onlyDevice, onlyDesktop, roleDirectory],
        examples: [
            Example(line: "bellwire restore --check bellwire.tar", says: "Checks the file, and shows what is in it."),
            Example(line: "bellwire restore bellwire.tar", says: "Puts everything back on a new machine."),
            Example(
                line: "bellwire restore --replace --desktop bellwire.tar",
                says: "Puts the desktop in the place of the one that is there, which is kept."),
        ],
        run: { arguments throws(Failure) in try RestoreRun(arguments).run() })

    static let restoreReplace = Option("replace", "Replaces what is there, and keeps it beside the directory.")
    static let restoreCheck = Option("check", "Checks the file and shows what it contains, without putting it back.")
}
