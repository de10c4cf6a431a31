import CBellwire
import JSON
import SystemServices

/// One run of `bellwire desktop`.
final class DesktopRun {
    private let arguments: Arguments
    private let json: Bool
    private let handle: Handle
    private let lock: ProgramLock?
    private let carriesRelay: Bool
    /// Of its own relay.
    private let listen: String
    private let pairing: DesktopPairing
    private var connection = Connection()
    private var services: DesktopServices?

    init(_ arguments: Arguments) throws(Failure) {
        try arguments.exclude([Command.relayAddress, Command.lanRelay, Command.relayURL], of: "desktop")
        try arguments.exclude([Command.pairAlways, Command.pairNever], of: "desktop")
        try arguments.exclude([Command.acceptAll, Command.confirmAll], of: "desktop")
        self.arguments = arguments
        json = arguments.has(.json)
        carriesRelay = !arguments.has(Command.relayURL)
        try arguments.exclude([Command.scanText, Command.scanImage], of: "desktop")
        if arguments.has(Command.sealOption), !arguments.has(Command.stdinOption) {
            throw Failure(.usage, "--seal needs --stdin; see bellwire desktop --help")
        }
        var scanned = try arguments.text(Command.scanText).map { text throws(Failure) in
            try CodeText.read(text, of: "device")
        }
        if let path = arguments.text(Command.scanImage) { scanned = try CodeText.read(image: path) }
        listen = try DesktopRun.address(arguments)
        let options: JSONValue = [
            "state_dir": arguments.text(.desktopStateDirectory).map { .string($0) },
            "name": arguments.text(.name).map { .string($0) },
            "tls": arguments.text(.caFile).map { ["ca_file": .string($0)] },
            "relay": carriesRelay ? ["listen": .string(listen)] : nil,
            "relay_url": arguments.text(Command.relayURL).map { .string($0) },
            "signaling_url": arguments.text(Command.signalingURL).map { .string($0) },
            "confirm": arguments.has(Command.confirmAll) ? true : nil,
            "legacy": arguments.text(Command.desktopLegacy).map { .string($0) },
        ]
        // Nothing must happen in the name of a desktop that may not run.
        lock = try DesktopDirectory.path(arguments).map { directory throws(Failure) in
            try ProgramLock(.desktop, in: directory)
        }
        handle = try Handle(.desktop, options: options, verbose: arguments.has(.verbose))
        pairing = DesktopPairing(handle, arguments, scanned: scanned)
    }

    private static func address(_ arguments: Arguments) throws(Failure) -> String {
        guard arguments.has(Command.lanRelay) else {
            return arguments.text(Command.relayAddress) ?? Command.relayAddress.initial ?? ""
        }
        guard let address = InterfaceAddresses.reachableIPv4().first else {
            throw Failure(.failed, "this machine has no address in a local network; pass one with --relay HOST:PORT")
        }
        return "\(address):9001"
    }

    func run() throws(Failure) -> Exit {
        Interrupt.reportHangups()
        let isUnpaired = try result { bw_desktop_devices(handle.pointer, $0) }.array?.isEmpty ?? true
        pairing.begin(isUnpaired: isUnpaired)
        try handle.subscribe("*") { [unowned self] name, event in show(name, event) }
        try handle.start()
        let state = try result { bw_desktop_state(handle.pointer, $0) }
        announce(state)
        let services = try DesktopServices(handle, arguments) { [json] url in
            if json {
                Output.json(["event": "http", "data": ["url": .string(url)]])
            } else {
                Output.line("HTTP at \(url)")
            }
        }
        self.services = services
        let moves = try result { bw_desktop_rekey_status(handle.pointer, $0) }
        for question in KeyQuestion.all(in: moves) { ask(question) }
        // Another program may run the desktop already, and then nothing new is reported.
        take(Connection(desktop: state))
        defer { services.close() }
        let pushes = arguments.has(Command.stdinOption)
        // A line answers the question that is open; else it is pushed.
        let input = LineInput(json: json) { [unowned self] line in
            let isAnswer = (try? line.text.get()).map { pairing.answer($0) } ?? false
            if !isAnswer, pushes { push(line) }
        }
        input.isWanted = pushes
        var wake = Handle.Wake.deadline
        repeat {
            wake = try handle.wait(
                orAt: .init { [unowned self] in connection.isOnline ? pairing.deadline : nil }, input: input,
                alsoFor: services.descriptors
            ) { () throws(Failure) in
                try services.serve()
                if connection.isOnline { connection.isOnline = try pairing.online() }
                if !input.isOpen { pairing.nobodyAnswers() }
                input.isWanted = pushes || pairing.isAsking
                return false
            }
        } while wake == .deadline
        guard case .signal(let signal) = wake else { return .done }
        return .stopped(by: signal)
    }

    private func announce(_ state: JSONValue) {
        if json {
            Output.json(["event": "started", "data": state])
        } else if carriesRelay, let port = state["relay"]?["port"]?.integer {
            Output.line("Relay at ws://\(Address(listen, port: port))")
        }
    }

    private func take(_ now: Connection) {
        let before = connection
        connection = now
        if !json, connection != before { showConnection() }
    }

    // MARK: Events

    private func show(_ name: String, _ event: JSONValue) {
        let data = event["data"] ?? .null
        if name == "connection.changed" {
            take(Connection(data))
        }
        if name == "pairing.changed" { pairing.changed(data) }
        services?.take(name, data)
        if json {
            Output.json(event)
            return
        }
        switch name {
        case "notification.received": Output.line(NotificationLine.text(data))
        case "pairing.changed": pairing.show(data)
        case "rekey.changed" where data["state"] == "confirming": KeyQuestion(data).map { ask($0) }
        case "rekey.changed" where data["state"] == "moved":
            if let peer = PairedPeer(data) { Output.notice("\(peer.name) has moved to its new key") }
        case "problem": Output.notice(LibraryWords.text(data["message"]?.string ?? "unknown problem"))
        default: break
        }
    }

    /// Questions have no deadline and survive restarts, so they are not asked on the terminal.
    private func ask(_ question: KeyQuestion) {
        guard !json else { return }
        Output.notice(question.notice(accept: "bellwire desktop accept", decline: "bellwire desktop decline"))
    }

    private func showConnection() {
        if connection.isOnline {
            Output.notice("online", .green)
        } else if let problem = connection.problem {
            Output.notice("offline, retrying: \(problem)", .yellow)
        }
    }

    // MARK: Pushing

    private func push(_ line: LineInput.Line) {
        let json = json
        do throws(Failure) {
            guard let params = try InputLine.params(of: try line.text.get(), json: json) else { return }
            try handle.begin { completion, userData, destroy in
                bw_desktop_notify_async(
                    handle.pointer, JSONValue.object(params).serialized(), 10_000, completion, userData, destroy)
            } then: { [weak self] result in
                do throws(Failure) {
                    let answer = try result.get()
                    DesktopRun.showPushed(answer, json: json)
                    // One that completes while the handle is closed has nothing to ask any more.
                    guard let self, arguments.has(Command.sealOption) else { return }
                    try ServicePayloads(handle, json: json).show(of: answer)
                } catch {
                    Output.failure(line.failure(error), json: json)
                }
            }
        } catch {
            Output.failure(line.failure(error), json: json)
        }
    }

    private static func showPushed(_ answer: JSONValue, json: Bool) {
        if json { return Output.json(["event": "pushed", "data": answer]) }
        let delivered = answer["deliveredCount"]?.integer ?? 0
        let failed = answer["failedCount"]?.integer ?? 0
        Output.line("Pushed to \(delivered) of \(delivered &+ failed) devices.")
    }
}
