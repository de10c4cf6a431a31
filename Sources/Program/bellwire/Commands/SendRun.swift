import CBellwire
import Door
import JSON

/// One run of `bellwire send`.
final class SendRun {
    private let arguments: Arguments
    private let json: Bool
    private let timeout: Int64
    private let fromInput: Bool
    private let isQuiet: Bool
    /// How long a notification may wait in the queue, in milliseconds; `nil` = not at all.
    private let queueTime: Int64?
    /// What every notification of this run has.
    private let common: JSONObject
    /// The only one; empty with `--stdin`.
    private let only: JSONObject

    init(_ arguments: Arguments) throws(Failure) {
        self.arguments = arguments
        json = arguments.has(.json)
        fromInput = arguments.has(Command.sendStdin)
        isQuiet = arguments.has(Command.sendQuiet)
        try arguments.exclude([Command.noQueue, Command.queueFor], of: "send")
        let queueFor = Int64(try arguments.milliseconds(Command.queueFor, most: 86_400))
        // The queue is short: lines wait here.
        queueTime = arguments.has(Command.noQueue) || fromInput ? nil : queueFor
        try arguments.exclude([Command.broadcast, Command.toMobile], of: "send")
        let pushes = arguments.has(Command.broadcast) || arguments.has(Command.toMobile)
        if pushes, arguments.isWritten(Command.icon) {
            throw Failure(
                .usage,
                "--icon is for notifications that the desktop shows; --broadcast and --to-mobile only push")
        }
        timeout = Int64(try arguments.milliseconds(Command.sendTimeout))
        only = fromInput ? [:] : try SendRun.notification(arguments)
        let hasText = arguments.has(Command.sendTitle) || arguments.has(Command.sendMessage)
        if fromInput, hasText || !arguments.operands.isEmpty {
            throw Failure(.usage, "--stdin takes no TITLE and no BODY (see bellwire send --help)")
        }
        var common: JSONObject = [
            "icon": pushes ? nil : arguments.text(Command.icon).map { .string($0) },
            "deviceId": arguments.text(Command.toMobile).map { .string($0) },
        ]
        if arguments.has(Command.pushGroup), !arguments.has(Command.broadcast) {
            throw Failure(.usage, "--group needs --broadcast (see bellwire send --help)")
        }
        common.merge(try PushFields.read(arguments))
        common["queueMs"] = queueTime.map { .integer($0) }
        self.common = common
    }

    /// Title and body; each an option or an operand.
    static func notification(_ arguments: Arguments) throws(Failure) -> JSONObject {
        var operands = arguments.operands[...]
        guard let title = arguments.text(Command.sendTitle) ?? operands.popFirst() else {
            throw Failure(.usage, "TITLE is missing (see bellwire send --help)")
        }
        let body = arguments.text(Command.sendMessage) ?? operands.popFirst() ?? ""
        if let word = operands.first {
            throw Failure(.usage, "\"\(word)\" is an unexpected argument (see bellwire send --help)")
        }
        return [
            "title": .string(title),
            "body": .string(body == "-" ? try LineInput.body().trimmed : BodyText.cut(body).text),
        ]
    }

    func run() throws(Failure) -> Exit {
        let session = try DeviceSession(arguments)
        let desktop = try session.desktop(arguments)
        let connection = try DesktopConnection(session, to: desktop)
        guard fromInput else {
            try send(only, to: desktop, session, connection)
            return .done
        }
        return try sendLines(to: desktop, session, connection)
    }

    /// One after the other: a line is read when the one before was answered.
    private func sendLines(
        to desktop: PairedPeer, _ session: DeviceSession, _ connection: DesktopConnection
    ) throws(Failure) -> Exit {
        var lines: [LineInput.Line] = []
        var (count, failed) = (0, 0)
        let input = LineInput(json: json) { lines.append($0) }
        while true {
            let wake = try session.handle.wait(input: input) { () throws(Failure) in !lines.isEmpty || !input.isOpen }
            if case .signal(let signal) = wake { throw .interrupted(signal) }
            for line in lines where !((try? line.text.get())?.trimmed.isEmpty ?? false) {
                count += 1
                do throws(Failure) {
                    guard let params = try InputLine.params(of: try line.text.get(), json: json) else { continue }
                    try send(params, to: desktop, session, connection)
                } catch {
                    if error.exit.isInterruption { throw error }
                    failed += 1
                    Output.failure(line.failure(error), json: json)
                }
            }
            lines = []
            if !input.isOpen { break }
        }
        guard failed == 0 else { throw Failure(.failed, "\(failed) of \(count) lines were not sent") }
        return .done
    }

    private func send(
        _ own: JSONObject, to desktop: PairedPeer, _ session: DeviceSession, _ connection: DesktopConnection
    ) throws(Failure) {
        let deadline = Clock.now &+ timeout
        if queueTime != nil, desktop.isEncrypted {
            try connection.settle(until: deadline)
        } else {
            // It may have gone since the last line.
            try connection.wait(until: deadline)
        }
        var params = common
        params.merge(own)
        let text = JSONValue.object(params).serialized()
        let answer = try session.answer(of: desktop, until: deadline) { left, completion, userData, destroy in
            if arguments.has(Command.broadcast) {
                bw_notification_broadcast_async(session.pointer, desktop.id, text, left, completion, userData, destroy)
            } else if arguments.has(Command.toMobile) {
                bw_notification_send_to_mobile_async(
                    session.pointer, desktop.id, text, left, completion, userData, destroy)
            } else {
                bw_notification_send_async(session.pointer, desktop.id, text, left, completion, userData, destroy)
            }
        }
        if json, !isQuiet { Output.json(answer) }
        if answer["queued"]?.bool == true {
            if !json, !isQuiet { Output.line("Queued until \(desktop.name) is online (see bellwire queue).") }
            return
        }
        try say(answer, of: desktop)
    }

    /// Says what became of it; a desktop that answers without success has refused.
    private func say(_ answer: JSONValue, of desktop: PairedPeer) throws(Failure) {
        let silenced = answer["silenced"]?.bool == true
        guard answer["success"]?.bool != false || silenced else {
            throw Failure(.failed, "\(desktop.name) refused: \(answer["error"]?.string ?? "no reason given")")
        }
        if arguments.has(Command.pushAt), answer["scheduledAt"] == nil {
            throw Failure(.failed, "\(desktop.name) does not support --at, and has sent it now")
        }
        guard !json, !isQuiet else { return }
        if let moment = answer["scheduledAt"]?.integer {
            return Output.line("\(desktop.name) sends it at \(Clock.text(ofEpochMilliseconds: moment)).")
        }
        if let delivered = answer["deliveredCount"]?.integer {
            let failed = answer["failedCount"]?.integer ?? 0
            Output.line("Pushed to \(delivered) of \(delivered &+ failed) devices of \(desktop.name).")
        } else if let delivered = answer["delivered"]?.bool {
            Output.line(
                delivered
                    ? "Pushed by \(desktop.name)."
                    : "\(desktop.name) accepted it; the device is offline and will receive it later.")
        } else {
            Output.line(
                silenced ? "\(desktop.name) stored it without showing it (quiet hours)." : "Sent to \(desktop.name).")
        }
    }
}
