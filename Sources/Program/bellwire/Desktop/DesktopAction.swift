import Glibc
import JSON

/// `bellwire desktop ACTION`: what a running desktop is asked from another terminal.
struct DesktopAction {
    static let names = ["pair", "devices", "allow", "accept", "decline", "stop"]

    /// How many operands an action takes, and their names.
    private static func operands(of action: String) -> (count: ClosedRange<Int>, names: String) {
        switch action {
        case "allow": (2...2, "DEVICE ALLOWANCE")
        case "accept", "decline": (0...1, "at most a DEVICE")
        default: (0...0, "no more")
        }
    }

    private let arguments: Arguments
    private let json: Bool

    /// How long a desktop has to end, in milliseconds.
    private static let patience: Int64 = 10_000

    init(_ arguments: Arguments) {
        self.arguments = arguments
        json = arguments.has(.json)
    }

    func run() throws(Failure) -> Exit {
        let operands = arguments.operands
        let action = operands.first ?? ""
        guard DesktopAction.names.contains(action) else {
            throw Failure(
                .usage, "\"\(action)\" is not an action; actions are \(DesktopAction.names.joined(separator: ", "))")
        }
        let wanted = DesktopAction.operands(of: action)
        guard wanted.count.contains(operands.count - 1) else {
            throw Failure(.usage, "bellwire desktop \(action) takes \(wanted.names)")
        }
        switch action {
        case "pair": try pair()
        case "devices": showDevices(try LocalDesktop(arguments).devices())
        case "allow": try allow(operands[1], operands[2])
        case "accept", "decline": try answerMove(of: operands.dropFirst().first, action == "accept")
        default: try stop()
        }
        return .done
    }

    private func pair() throws(Failure) {
        let desktop = try LocalDesktop(arguments)
        guard try desktop.isRunning() else { throw DesktopAction.notRunning }
        let offer = try desktop.offer()
        let code = digits(of: desktop)
        if json {
            Output.json(["event": "offer", "data": offer])
            if let code { Output.json(["event": "code", "data": code]) }
            return
        }
        let shown = PairingOffer(payload: offer["payload"]?.string ?? "")
        let notice = "the running desktop shows which device pairs, and asks for confirmation in its own terminal"
        try shown.draw(textOnly: arguments.has(Command.qrText), before: "bellwire: \(notice)")
        if let code { shown.showDigits(code) }
        Output.notice(notice)
    }

    /// The QR code works without digits, which not every relay can provide.
    private func digits(of desktop: LocalDesktop) -> JSONValue? {
        do throws(Failure) { return try desktop.code() } catch {
            Output.notice("no digits available: \(error.message)")
            return nil
        }
    }

    private func showDevices(_ devices: [PairedPeer]) {
        if json { return Output.json("devices", devices.map(\.json)) }
        if devices.isEmpty { return Output.notice("no device is paired") }
        for device in devices {
            Output.line("\(Printable.padded(device.title, to: 32)) \(Printable.line(device.id))")
        }
    }

    private func allow(_ word: String, _ allowance: String) throws(Failure) {
        let desktop = try LocalDesktop(arguments)
        let device = try PairedPeer.find(word, in: try desktop.devices(), kind: "device")
        try desktop.allow(device, allowance)
        if json {
            return Output.json([
                "id": .string(device.id), "name": device.json["name"], "allowed": ["notification": .string(allowance)],
            ])
        }
        Output.line("\(device.name) may do: \(allowance).")
    }

    /// About a device that asks to move to a new key. Only a running desktop can tell the device.
    private func answerMove(of word: String?, _ accept: Bool) throws(Failure) {
        let desktop = try LocalDesktop(arguments)
        guard try desktop.isRunning() else { throw DesktopAction.notRunning }
        let device = try KeyQuestion.find(word, in: try desktop.keyMoves(), kind: "device")
        try desktop.answerMove(of: device, accept)
        if json { return Output.json(device.peer.json) }
        Output.line(device.answered(accept))
    }

    /// Ends the running `bellwire desktop`, and waits for its end: the next one can start at once.
    private func stop() throws(Failure) {
        let directory = try LocalDesktop.directory(arguments)
        guard let process = try ProgramLock.holder(.desktop, in: directory) else { throw DesktopAction.notRunning }
        guard kill(process, SIGTERM) == 0 || errno == ESRCH else {
            throw Failure(.failed, "cannot stop the desktop (process \(process)): \(String(cString: strerror(errno)))")
        }
        let deadline = Clock.now &+ DesktopAction.patience
        while try ProgramLock.holder(.desktop, in: directory) == process {
            guard Clock.now < deadline else {
                throw Failure(.failed, "the desktop (process \(process)) has not stopped within 10 seconds")
            }
            var entry = pollfd(fd: Interrupt.descriptor, events: Int16(POLLIN), revents: 0)
            _ = poll(&entry, 1, 20)
            if let signal = Interrupt.take() { throw .interrupted(signal) }
        }
        if json { return Output.json(["process": .integer(Int64(process))]) }
        Output.line("The desktop has stopped.")
    }

    private static var notRunning: Failure {
        Failure(.offline, "no bellwire desktop is running with this state directory")
    }
}
