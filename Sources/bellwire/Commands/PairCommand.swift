import CBellwire
import JSON

extension Command {
    static let pair = Command(
        name: "pair",
        summary: "Pairs this device with a desktop by the text of its QR code.",
        about: [
            """
            Pairs with the desktop whose QR code says TEXT. The text is what the code holds: bellwire desktop --qr-text \
            prints it. It is good for five minutes.
            """,
            "One process at a time holds a device's state directory: end a running bellwire listen first.",
        ],
        operands: [
            Operand(
                name: "TEXT", help: "The text; - or nothing reads it from standard input, @FILE from a file.")
        ],
        ownOptions: [pairTimeout, .name, pairList] + DeviceSession.options,
        examples: [
            Example(line: "bellwire pair @code.txt", says: "Pairs by the text in a file."),
            Example(line: "bellwire pair --list", says: "Shows the desktops that are paired."),
        ],
        run: { arguments throws(Failure) in try runPair(arguments) })

    private static let pairTimeout = Option.timeout(30, "How long to wait for the desktop.")
    private static let pairList = Option("list", "Pairs nothing; shows the paired desktops.")

    private static func runPair(_ arguments: Arguments) throws(Failure) -> Exit {
        if arguments.has(pairList) { return try list(arguments) }
        let timeout = try arguments.milliseconds(pairTimeout)
        let text = try codeText(arguments.operands.first ?? "-")
        let session = try DeviceSession(arguments, name: arguments.text(.name))
        let json = try session.handle.completion { completion, userData, destroy in
            bw_pairing_scan_async(session.pointer, text, timeout, completion, userData, destroy)
        }
        if arguments.has(.json) {
            Output.json(json)
        } else if let desktop = PairedDesktop(json) {
            Output.line("Paired with \(desktop.title).")
            if json["secure"]?.bool == false {
                Output.notice("what travels between the two is not sealed: the relay can read it")
            }
        }
        return .done
    }

    private static func list(_ arguments: Arguments) throws(Failure) -> Exit {
        let desktops = try DeviceSession(arguments).desktops()
        if desktops.isEmpty, !arguments.has(.json) { Output.notice("no desktop is paired") }
        for desktop in desktops {
            if arguments.has(.json) {
                Output.json(desktop.json)
            } else {
                let since = Clock.text(ofEpochMilliseconds: desktop.json["pairedAt"]?.integer ?? 0)
                Output.line("\(desktop.title)  paired \(since)  \(Printable.line(desktop.id))")
            }
        }
        return .done
    }

    private static func codeText(_ operand: String) throws(Failure) -> String {
        var text = operand
        if operand == "-" {
            if LineInput.isTerminal { Output.notice("paste the text of the desktop's QR code, then press Enter") }
            text = try LineInput.all()
        } else if operand.hasPrefix("@") {
            text = try LineInput.contents(ofFile: String(operand.dropFirst()))
        }
        return text.trimmed
    }
}

extension String {
    /// Without white space at both ends.
    var trimmed: String {
        var rest = self[...]
        while rest.first?.isWhitespace == true { rest.removeFirst() }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }
}
