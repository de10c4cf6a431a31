import CBellwire
import JSON

extension Command {
    static let pair = Command(
        name: "pair",
        summary: "Pairs this device with a desktop, by QR code or by digits.",
        about: [
            """
            Pairs with the desktop whose QR code contains TEXT, as bellwire desktop prints it. With --show \
            this device shows a code for a desktop to scan. With --code you type the digits that a desktop shows. With \
            --image it reads the code from a picture, such as a screenshot. A code is valid for five minutes.
            """,
            """
            A pairing with another Bellwire is end-to-end encrypted: no relay or network can read or change the \
            messages. Both sides show the same six digits and two words; compare them. If a desktop does not support \
            encryption, like ChainlessChain's, the command says so. If such a desktop sends nothing within 10 seconds, \
            the pairing is unconfirmed and the exit code is 3. The desktop's first message confirms it; bellwire peers \
            --unpair removes it.
            """,
        ],
        operands: [
            Operand(
                name: "TEXT", help: "The code's text, or @FILE; - or no operand reads standard input.")
        ],
        ownOptions: [
            pairImage, pairShow, pairAccept, pairCode, pairRelay, pairTimeout, .name, pairLegacy, pairText, pairList,
        ] + DeviceSession.options,
        examples: [
            Example(line: "bellwire pair @code.txt", says: "Pairs with the code text in a file."),
            Example(line: "bellwire pair --image screenshot.png", says: "Pairs with a picture of the code."),
            Example(
                line: "bellwire pair --show --relay-url wss://relay.example.org",
                says: "Shows a code for bellwire desktop --scan."),
            Example(
                line: "bellwire pair --code 123456-789012 --relay-url ws://192.168.1.5:9001",
                says: "Pairs with the digits below a desktop's QR code."),
        ],
        run: { arguments throws(Failure) in try runPair(arguments) })

    private static let pairImage = Option(
        "image", .required("IMAGE"), "Reads the desktop's code from a PNG or JPEG picture.")
    private static let pairShow = Option("show", "Shows a code and waits until a desktop has scanned it.")
    private static let pairAccept = Option(
        "accept", "With --show: accepts a desktop that can't prove that it saw the code, without asking.")
    private static let pairCode = Option(
        "code", .required("DIGITS"), "The twelve digits that the desktop shows, such as 123456-789012.")
    private static let pairRelay = Option(
        "relay-url", .required("URL"),
        "The relay to use for --show and --code (default: the last one that worked); with TEXT, an additional relay.")
    private static let pairTimeout = Option(
        "timeout", .required("SECONDS"),
        "How long to wait for the desktop (default: 60; with --show, until the code expires).")
    private static let pairLegacy = Option.legacy(
        "Which desktops may pair unencrypted: qr = those with a QR code; all = also with six digits; none = no desktop."
    )
    private static let pairText = Option("qr-text", "With --show: prints only the code's text, without drawing it.")
    private static let pairList = Option("list", "Lists the paired desktops instead of pairing (see bellwire peers).")

    private static func runPair(_ arguments: Arguments) throws(Failure) -> Exit {
        try arguments.exclude([pairList, pairImage, pairShow, pairCode], of: "pair")
        if arguments.has(pairList) { return try list(arguments) }
        let isByText = !arguments.has(pairShow) && !arguments.has(pairCode)
        let image = arguments.text(pairImage)
        if let text = arguments.operands.first, !isByText || image != nil {
            throw Failure(
                .usage, "\"\(text)\": --show, --code and --image take no TEXT (see bellwire pair --help)")
        }
        if arguments.isWritten(pairAccept), !arguments.has(pairShow) {
            throw Failure(.usage, "--accept needs --show (see bellwire pair --help)")
        }
        let timeout = arguments.has(pairTimeout) ? try arguments.milliseconds(pairTimeout) : nil
        let text: String
        if let image {
            text = try CodeText.read(image: image)
        } else {
            text = isByText ? try CodeText.read(arguments.operands.first ?? "-", of: "desktop") : ""
        }
        let session = try DeviceSession(
            arguments,
            options: [
                "name": arguments.text(.name).map { .string($0) },
                "relay_url": arguments.text(pairRelay).map { .string($0) },
                "legacy": arguments.text(pairLegacy).map { .string($0) },
            ])
        try warnOfHolder(arguments, session)
        if arguments.has(pairShow) {
            let shown = ShownCode(
                session, textOnly: arguments.has(pairText), acceptsAll: arguments.has(pairAccept),
                json: arguments.has(.json))
            try shown.run(timeout)
            return .done
        }
        let code = arguments.text(pairCode)
        let limit = timeout ?? 60_000
        let desktop = try session.handle.completion(waitingFor: "the relay and the desktop") {
            completion, userData, destroy in
            if let code {
                bw_pairing_type_async(session.pointer, code, limit, completion, userData, destroy)
            } else {
                bw_pairing_scan_async(session.pointer, text, limit, completion, userData, destroy)
            }
        }
        let exit = showPaired(desktop, json: arguments.has(.json))
        try warnOfForgery(of: desktop, in: session)
        return exit
    }

    /// A guest takes the holder's options, but for its own relay.
    private static func warnOfHolder(_ arguments: Arguments, _ session: DeviceSession) throws(Failure) {
        let ignored = [Option.name, pairLegacy, .caFile].filter { arguments.isWritten($0) }
        guard !ignored.isEmpty else { return }
        let sharing = try result { bw_device_state(session.pointer, $0) }["sharing"]
        guard sharing?["part"] == "guest" else { return }
        let names = ignored.map { "--\($0.name)" }.joined(separator: ", ")
        let holder = Printable.line(sharing?["holder"]?["application"]?.string ?? "")
        Output.notice(
            "no effect of \(names): \(holder) (process \(sharing?["holder"]?["process"]?.integer ?? 0)) has the device open "
                + "with its own; stop it and pair again to use them")
    }

    /// A relay that believes senders is usually known within a round trip after the registration.
    static func warnOfForgery(of desktop: JSONValue, in session: DeviceSession) throws(Failure) {
        guard desktop["secure"]?.bool == false else { return }
        let id = desktop["id"]?.string
        try session.handle.subscribe("connection.changed") { _, _ in }
        _ = try session.handle.wait(until: Clock.now &+ forgeryTime) { () throws(Failure) in
            let state = try result { bw_device_state(session.pointer, $0) }
            let connection = state["connection"]?.array?.first { $0["desktop"]?.string == id }
            return connection?["routes"]?.array?.contains { $0["state"] == "online" && $0["forgeable"] == nil } != true
        }
        if let notice = try session.desktops().first(where: { $0.id == id })?.forgeryNotice { Output.notice(notice) }
    }

    /// Milliseconds. A relay that believes senders answers a probe at once; one that takes longer is reported by the next
    /// program that lists peers.
    private static let forgeryTime: Int64 = 1_000

    /// What a pairing came to.
    @discardableResult
    static func showPaired(_ desktop: JSONValue, json: Bool) -> Exit {
        let peer = PairedPeer(desktop)
        if json {
            Output.json(desktop)
        } else {
            for line in peer?.pairedLines(other: "desktop") ?? [] { Output.line(line) }
        }
        guard let notice = peer?.unconfirmedNotice else { return .done }
        Output.notice(notice)
        return .offline
    }

    private static func list(_ arguments: Arguments) throws(Failure) -> Exit {
        let desktops = try DeviceSession(arguments).desktops()
        if arguments.has(.json) {
            Output.json("desktops", desktops.map(\.unconnected))
            return .done
        }
        if desktops.isEmpty { Output.notice("no desktop is paired") }
        for desktop in desktops {
            let since = Clock.text(ofEpochMilliseconds: desktop.json["pairedAt"]?.integer ?? 0)
            Output.line("\(desktop.title)  paired \(since)  \(Printable.line(desktop.id))")
        }
        return .done
    }
}
