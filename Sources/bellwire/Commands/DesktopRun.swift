import CBellwire
import Glibc
import JSON

/// One run of `bellwire desktop`.
final class DesktopRun {
    private let arguments: Arguments
    private let json: Bool
    private let handle: Handle
    private let carriesRelay: Bool
    private var connection = Connection()
    private var wantsOffer = false

    init(_ arguments: Arguments) throws(Failure) {
        if arguments.has(Command.relayAddress), arguments.has(Command.relayURL) {
            throw Failure(.usage, "--relay and --relay-url exclude each other")
        }
        if arguments.has(Command.pairAlways), arguments.has(Command.pairNever) {
            throw Failure(.usage, "--pair and --no-pair exclude each other")
        }
        self.arguments = arguments
        json = arguments.has(.json)
        carriesRelay = !arguments.has(Command.relayURL)
        let listen = arguments.text(Command.relayAddress) ?? Command.relayAddress.initial ?? ""
        let options: JSONValue = [
            "state_dir": arguments.text(.desktopStateDirectory).map { .string($0) },
            "name": arguments.text(.name).map { .string($0) },
            "tls": arguments.text(.caFile).map { ["ca_file": .string($0)] },
            "relay": carriesRelay ? ["listen": .string(listen)] : nil,
            "relay_url": arguments.text(Command.relayURL).map { .string($0) },
            "signaling_url": arguments.text(Command.signalingURL).map { .string($0) },
        ]
        handle = try Handle(.desktop, options: options, verbose: arguments.has(.verbose))
    }

    func run() throws(Failure) -> Exit {
        if !arguments.has(Command.pairNever) {
            let isUnpaired = try devices().isEmpty
            wantsOffer = isUnpaired || arguments.has(Command.pairAlways)
        }
        try handle.subscribe("*") { [unowned self] name, event in show(name, event) }
        try handle.start()
        try announce()
        let input = arguments.has(Command.stdinOption) ? LineInput { [unowned self] line in push(line) } : nil
        _ = try handle.wait(input: input) { () throws(Failure) in
            if wantsOffer, connection.isOnline { try offer() }
            return false
        }
        return .done
    }

    private func devices() throws(Failure) -> [JSONValue] {
        try result { bw_desktop_devices(handle.pointer, $0) }.array ?? []
    }

    private func announce() throws(Failure) {
        let state = try result { bw_desktop_state(handle.pointer, $0) }
        if json {
            Output.json(["event": "started", "data": state])
        } else if carriesRelay, let port = state["relay"]?["port"]?.integer {
            let listen = arguments.text(Command.relayAddress) ?? Command.relayAddress.initial ?? ""
            Output.line("Relay at ws://\(Address(listen, port: port))")
        }
    }

    // MARK: Pairing

    private func offer() throws(Failure) {
        let offer: JSONValue
        do throws(Failure) { offer = try result { bw_desktop_offer(handle.pointer, 10_000, $0) } } catch {
            // The relay went in this very moment: the next time that it is there, the offer is made.
            guard error.exit == .offline else { throw error }
            connection.isOnline = false
            return
        }
        wantsOffer = false
        let payload = offer["payload"]?.string ?? ""
        if json {
            Output.json(["event": "offer", "data": offer])
            return
        }
        let drawing = Output.isTerminal ? try self.drawing(of: payload) : nil
        if let drawing {
            Output.text(drawing)
            Output.line("Scan it with a device, or give its text to bellwire pair, within five minutes.")
        }
        if drawing == nil || arguments.has(Command.qrText) { Output.line(payload) }
    }

    /// The QR code; `nil`, and said, where the terminal is too narrow for it.
    private func drawing(of payload: String) throws(Failure) -> String? {
        let plain = getenv("NO_COLOR") != nil || getenv("TERM").map { String(cString: $0) == "dumb" } ?? true
        // Measured without colours: those are no columns.
        let measured = try resultText { bw_qr_terminal(payload, 1, $0) }
        let width = measured.split(separator: "\n").map(\.count).max() ?? 0
        if let columns = Output.columns, columns < width {
            Output.notice("the QR code needs \(width) columns, the terminal has \(columns); its text is")
            return nil
        }
        return plain ? measured : try resultText { bw_qr_terminal(payload, 0, $0) }
    }

    // MARK: Events

    private func show(_ name: String, _ event: JSONValue) {
        let data = event["data"] ?? .null
        if name == "connection.changed" {
            let before = connection
            connection = Connection(data)
            if !json, connection != before { showConnection() }
        }
        if json {
            Output.json(event)
            return
        }
        switch name {
        case "notification.received": Output.line(NotificationLine.text(data))
        case "pairing.changed": showPairing(data)
        case "problem": Output.notice(data["message"]?.string ?? "a problem without a message")
        default: break
        }
    }

    private func showConnection() {
        if connection.isOnline {
            Output.notice("online")
        } else if let problem = connection.problem {
            Output.notice("offline, trying on: \(problem)")
        }
    }

    private func showPairing(_ data: JSONValue) {
        let device = data["device"]
        let name = Printable.line(device?["name"]?.string ?? device?["id"]?.string ?? device?.string ?? "a device")
        switch data["state"]?.string {
        case "paired":
            let platform = device?["platform"]?.string.map { " (\(Printable.line($0)))" } ?? ""
            Output.line("Paired with \(name)\(platform).")
        case "expired": Output.notice("the code has expired; start again with --pair for a new one")
        case "failed":
            Output.notice(
                "pairing failed: \(data["message"]?.string ?? data["reason"]?.string ?? "it does not say why")")
        default: break
        }
    }

    // MARK: Pushing

    private func push(_ line: String) {
        guard let params = params(of: line) else { return }
        let json = json
        do throws(Failure) {
            try handle.begin { completion, userData, destroy in
                bw_desktop_notify_async(handle.pointer, params.serialized(), 10_000, completion, userData, destroy)
            } then: { result in
                do throws(Failure) { DesktopRun.showPushed(try result.get(), json: json) } catch {
                    Output.failure(error, json: json)
                }
            }
        } catch {
            Output.failure(error, json: json)
        }
    }

    private static func showPushed(_ answer: JSONValue, json: Bool) {
        if json { return Output.json(["event": "pushed", "data": answer]) }
        let delivered = answer["deliveredCount"]?.integer ?? 0
        let failed = answer["failedCount"]?.integer ?? 0
        Output.line("Pushed to \(delivered) of \(delivered &+ failed) devices.")
    }

    private func params(of line: String) -> JSONValue? {
        if line.trimmed.isEmpty { return nil }
        guard json else {
            let parts = line.split(separator: "\t", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
            return [
                "title": .string(parts[0]), "body": .string(parts.count > 1 ? parts[1] : ""),
                "priority": parts.count > 2 ? .string(parts[2]) : nil,
            ]
        }
        do throws(JSONError) { return try JSONValue(parsing: line) } catch {
            Output.failure(Failure(.failed, "a line of standard input: \(error.message)"), json: true)
            return nil
        }
    }
}
