extension Command {
    static let desktop = Command(
        name: "desktop",
        summary: "Runs a desktop: shows a QR code, keeps the history, pushes.",
        about: [
            """
            Runs a desktop in this terminal. When no device is paired yet (or with --pair) it shows a QR code, and under \
            it the digits for a device that cannot scan, good for one pairing; with --scan it takes the code that a device shows. It says when \
            a device paired, and prints what devices ask it to show, one line each: time, priority, source, title, body. \
            Ctrl-C ends it.
            """,
            """
            A device that has proved that it has seen the code is paired at once, sealed. About one that cannot, as \
            phones of other makers, and about one that was scanned, you are asked on the terminal, and have 30 seconds. \
            Where there is no terminal such a device is refused, and that is said, unless --accept is given.
            """,
            """
            It carries a relay of its own at --relay, or registers at another one with --relay-url. On 127.0.0.1 \
            only programs on this machine reach it; give an address of your network for phones to reach it.
            """,
            """
            With --stdin each line of standard input is pushed to all paired devices: a title, which a body and a \
            priority may follow, with tabs between them; with --json, an object with "title", "body", "priority", \
            "deviceId" and "data". The end of standard input does not end the desktop.
            """,
        ],
        operands: [],
        ownOptions: [
            relayAddress, relayURL, signalingURL, .name, pairAlways, pairNever, scanText, scanImage, acceptAll,
            confirmAll,
            desktopLegacy, qrText, stdinOption, .desktopStateDirectory, .caFile,
        ],
        examples: [
            Example(line: "bellwire desktop", says: "Shows a QR code, then what devices send."),
            Example(
                line: "bellwire desktop --relay 192.168.1.5:9001 --pair", says: "For the local network; another device."
            ),
            Example(
                line: "bellwire desktop --relay-url wss://relay.example.org --scan @code.txt",
                says: "Pairs with the device whose code, of bellwire pair --show, is in the file."),
            Example(
                line: "mkfifo push; bellwire desktop --stdin <> push",
                says: "Then, from anywhere: printf 'Build done\\tAll green\\n' > push"),
        ],
        run: { arguments throws(Failure) in try DesktopRun(arguments).run() })

    static let relayAddress = Option(
        "relay", .required("HOST:PORT"), "Carries its own relay there; port 0 takes a free one.",
        initial: "127.0.0.1:9001")
    static let relayURL = Option("relay-url", .required("URL"), "Uses the relay at this ws:// or wss:// URL instead.")
    static let signalingURL = Option(
        "signaling-url", .required("URL"), "What the code names, when devices reach --relay under another URL.")
    static let pairAlways = Option("pair", "Offers pairing, also when devices are paired already.")
    static let pairNever = Option("no-pair", "Offers no pairing.")
    static let scanText = Option(
        "scan", .required("TEXT"), "Takes the code that a device shows: its text, @FILE, or - for standard input.")
    static let scanImage = Option(
        "scan-image", .required("IMAGE"), "Takes it from a picture of the code, PNG or JPEG.")
    static let acceptAll = Option("accept", "Accepts every device that it would ask about.")
    static let confirmAll = Option("confirm", "Asks about every device, also one that has proved itself.")
    static let desktopLegacy = Option.legacy(
        "Who may pair unsealed: qr = devices that scanned the QR code; all = also by its six digits; none = nobody.")
    static let qrText = Option(
        "qr-text",
        "Shows a code, as --pair does, and prints its text too; without a terminal a code is always its text.")
    static let stdinOption = Option("stdin", "Pushes each line of standard input.")
}
