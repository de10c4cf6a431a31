import JSON

/// `bellwire desktop ACTION`: what a running desktop is asked from another terminal.
struct DesktopAction {
    static let names = ["pair", "devices", "allow", "stop"]

    private let arguments: Arguments
    private let json: Bool
    private let desktop: LocalDesktop

    init(_ arguments: Arguments) throws(Failure) {
        self.arguments = arguments
        json = arguments.has(.json)
        desktop = try LocalDesktop(arguments)
    }

    func run() throws(Failure) -> Exit {
        let operands = arguments.operands
        let action = operands.first ?? ""
        guard DesktopAction.names.contains(action) else {
            throw Failure(
                .usage, "\"\(action)\" is not an action; actions are \(DesktopAction.names.joined(separator: ", "))")
        }
        guard operands.count == (action == "allow" ? 3 : 1) else {
            throw Failure(
                .usage, "bellwire desktop \(action) takes \(action == "allow" ? "DEVICE ALLOWANCE" : "no more")")
        }
        switch action {
        case "pair": try pair()
        case "devices": showDevices(try devices())
        case "allow": try allow(operands[1], operands[2])
        default:
            _ = try desktop.ask(["call": "stop"], onlyRunning: true)
            if !json { Output.line("The desktop stops.") }
        }
        return .done
    }

    private func pair() throws(Failure) {
        let offer = try desktop.ask(["call": "offer"], onlyRunning: true)
        if json { return Output.json(["event": "offer", "data": offer]) }
        try QRDrawing.show(
            offer["payload"]?.string ?? "",
            says: "Scan this code with a device, or type \(offer["code"]?.string ?? ""). It expires in five minutes.",
            alsoText: arguments.has(Command.qrText))
        Output.notice("the running desktop shows which device pairs, and asks for confirmation in its own terminal")
    }

    private func devices() throws(Failure) -> [PairedPeer] {
        try desktop.ask(["call": "devices"]).array?.compactMap { PairedPeer($0) } ?? []
    }

    private func showDevices(_ devices: [PairedPeer]) {
        if json { return Output.json("devices", devices.map(\.json)) }
        for device in devices {
            Output.line("\(Printable.padded(device.title, to: 32)) \(Printable.line(device.id))")
        }
    }

    private func allow(_ word: String, _ allowance: String) throws(Failure) {
        let device = try PairedPeer.find(word, in: try devices(), kind: "device")
        _ = try desktop.ask([
            "call": "allow", "device": .string(device.id), "skill": "notification", "allowance": .string(allowance),
        ])
        if !json { Output.line("\(device.name) may do: \(allowance).") }
    }
}
