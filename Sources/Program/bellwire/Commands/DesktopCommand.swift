extension Command {
    static let desktop = Command(
        name: "desktop",
        summary: "Runs a desktop: pairs devices, keeps the history, pushes notifications.",
        about: [
            """
            Runs a desktop in this terminal. If no device is paired yet (or with --pair) it shows a QR code, above it \
            its text, and below it digits for devices that cannot scan. The code works for one pairing. With --scan it reads the code that \
            a device shows. It prints a line when a device pairs, and one for each notification that a device sends: \
            time, priority, source, title, body. It also shows that notification as an alert of the desktop \
            environment, unless you pass --no-alerts; in the quiet hours of the desktop's settings only urgent ones. \
            Ctrl-C stops it.
            """,
            """
            A device that proves that it saw the code is paired at once, end-to-end encrypted. If a device can't prove \
            it, like ChainlessChain's phone apps, or if you scanned its code, the desktop asks on the terminal whether \
            to accept it. You have 30 seconds to answer. Without a terminal it refuses such devices and prints a \
            message, unless you pass --accept.
            """,
            """
            It runs its own relay at --relay, or uses the one at --relay-url. With 127.0.0.1 only programs on this \
            machine can reach it. With --lan it runs its relay on this machine's address in the local network, so that \
            phones and other machines there can.
            """,
            """
            With --stdin it pushes each line of standard input to all paired devices: a title, optionally followed by \
            a body and a priority, separated by tabs; with --json, an object with "title", "body", "priority", \
            "deviceId" and "data". The desktop keeps running after standard input ends.
            """,
            """
            With --seal it also prints encrypted payloads for push services. If a device has not received such a push \
            within 2 seconds, it prints a line for each of the device's push services: the service, the token in \
            hexadecimal, and the payload, separated by tabs; with --json, an event "payload". Only the device can read \
            the payload. Sending it is up to the program that reads the output.
            """,
            """
            With --http it accepts notifications over HTTP, in the format of ntfy's clients: a POST to /TOPIC with the \
            message, or JSON to /. Requests need a token (bellwire token); with --http-open, those from this machine \
            do not. If a group has the topic's name, only its devices get the notification. Web pages cannot publish. \
            SIGHUP makes it read the certificate again.
            """,
            """
            With ACTION it controls the desktop that is running with the same state directory: pair shows a new code, \
            devices lists the devices, allow sets what a device may do, accept and decline answer a device that asks \
            to move to a new key, stop ends it and waits until it has ended. See also bellwire push.
            """,
        ],
        operands: [
            Operand(
                name: "ACTION",
                help: """
                    Controls the running desktop: pair, devices, stop, allow DEVICE ALLOWANCE, or accept or decline \
                    [DEVICE].
                    """,
                choices: DesktopAction.names),
            Operand(
                name: "WORD",
                help: """
                    With allow: the device, and nothing, safe, mutating or privileged. With accept and decline: the \
                    device, if several ask.
                    """,
                repeats: true),
        ],
        ownOptions: [
            relayAddress, lanRelay, relayURL, signalingURL, .name, pairAlways, pairNever, scanText, scanImage,
            acceptAll, confirmAll, noAlerts, desktopLegacy, qrText, stdinOption, sealOption, httpAddress,
            httpCertificate, httpKey, httpOpen, httpName, .desktopStateDirectory, .caFile,
        ],
        examples: [
            Example(line: "bellwire desktop", says: "Shows a QR code, then prints what devices send."),
            Example(line: "bellwire desktop --lan --pair", says: "Pairs another device on the local network."),
            Example(
                line: "bellwire desktop --relay-url wss://relay.example.org --scan @code.txt",
                says: "Pairs with the device whose code (bellwire pair --show) is in the file."),
            Example(
                line: "bellwire desktop --http 127.0.0.1:8080 --http-open",
                says: "Programs here publish: curl -d \"Backup done\" localhost:8080/backups"),
            Example(line: "bellwire desktop stop", says: "Stops the running desktop."),
            Example(
                line: "mkfifo push; bellwire desktop --stdin <> push",
                says: "Pushes from any terminal: printf 'Build done\\tAll green\\n' > push"),
        ],
        run: { arguments throws(Failure) in
            try arguments.operands.isEmpty ? DesktopRun(arguments).run() : DesktopAction(arguments).run()
        })

    static let relayAddress = Option(
        "relay", .required("HOST:PORT"), "Address of its own relay; port 0 = any free port.",
        initial: "127.0.0.1:9001")
    static let lanRelay = Option("lan", "Runs its relay on this machine's address in the local network, port 9001.")
    static let relayURL = Option(
        "relay-url", .required("URL"), "Uses the relay at this ws:// or wss:// URL instead of its own.")
    static let signalingURL = Option(
        "signaling-url", .required("URL"), "URL to put in the code, if devices reach --relay under another URL.")
    static let pairAlways = Option("pair", "Offers pairing even if devices are already paired.")
    static let pairNever = Option("no-pair", "Does not offer pairing.")
    static let scanText = Option(
        "scan", .required("TEXT"), "Reads the code that a device shows: its text, @FILE, or - for standard input.")
    static let scanImage = Option(
        "scan-image", .required("IMAGE"), "Reads the code from a PNG or JPEG picture.")
    static let acceptAll = Option("accept", "Accepts every device without asking.")
    static let confirmAll = Option("confirm", "Asks about every device, even if it proved that it saw the code.")
    static let noAlerts = Option("no-alerts", "Shows no alerts of what devices send, and only prints it.")
    static let desktopLegacy = Option.legacy(
        """
        Which devices may pair unencrypted: qr = those that scanned the QR code; all = also those that use its six \
        digits; none = no device.
        """
    )
    static let qrText = Option(
        "qr-text",
        "Offers pairing like --pair, and prints only the code's text, as without a terminal.")
    static let stdinOption = Option("stdin", "Pushes each line of standard input.")
    static let httpAddress = Option(
        "http", .required("HOST:PORT"), "Accepts notifications over HTTP at this address; port 0 = any free port.")
    static let httpCertificate = Option(
        "http-certificate", .required("FILE"), "With --http: the certificate chain (PEM), for https.")
    static let httpKey = Option("http-key", .required("FILE"), "The certificate's private key (PEM).")
    static let httpOpen = Option("http-open", "With --http: programs on this machine need no token.")
    static let httpName = Option(
        "http-name", .required("NAME"),
        "With --http: a host name under which clients reach it, besides localhost. May be given several times.")
    static let sealOption = Option(
        "seal", "With --stdin: prints payloads for the push services of devices that have not received a push.")
}
