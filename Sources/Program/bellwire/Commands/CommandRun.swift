import CBellwire
import Glibc
import JSON

/// One run of `bellwire run`.
struct CommandRun {
    private let arguments: Arguments
    private let words: [String]
    /// A command that succeeds within this time is not reported, in milliseconds.
    private let after: Int64
    private let timeout: Int64

    init(_ arguments: Arguments) throws(Failure) {
        self.arguments = arguments
        words = arguments.operands
        after = Int64(try arguments.integer(Command.runAfter, in: 1...86_400) ?? 0) &* 1000
        timeout = Int64(try arguments.milliseconds(Command.sendTimeout))
    }

    func run() throws(Failure) -> Exit {
        try checkPairing()
        let begin = Clock.now
        let (end, isInterrupted) = try ForegroundProcess(words).wait()
        let time = Clock.now &- begin
        let json = arguments.has(.json)
        var result: JSONObject = ["code": .integer(Int64(end.code)), "milliseconds": .integer(time)]
        // Who has pressed Ctrl-C knows.
        if !isInterrupted, end != .exited(0) || time >= after {
            do throws(Failure) { result["notification"] = try report(end, time) } catch {
                Output.failure(error, json: json)
            }
        }
        // Standard output is the command's.
        if json { Output.errorLine(JSONValue.object(result).serialized()) }
        return .ofCommand(end.code)
    }

    /// What cannot be reported is said before the command runs. The state directory is free meanwhile.
    private func checkPairing() throws(Failure) {
        do throws(Failure) { _ = try DeviceSession(arguments).desktop(arguments) } catch {
            if error.exit != .inUse { throw error }
        }
    }

    /// - Returns: the desktop's answer, or that the notification is queued.
    private func report(_ end: ForegroundProcess.End, _ time: Int64) throws(Failure) -> JSONValue {
        let session = try DeviceSession(arguments)
        let desktop = try session.desktop(arguments)
        let deadline = Clock.now &+ timeout
        let connection = try DesktopConnection(session, to: desktop)
        if desktop.isEncrypted {
            try connection.settle(until: deadline)
        } else {
            try connection.wait(until: deadline)
        }
        let title = arguments.text(Command.runTitle) ?? Word.shown(words.joined(separator: " "))
        var params: JSONObject = [
            "title": .string(CommandRun.cut(title)),
            "body": .string("\(end.text) after \(CommandRun.duration(time))"), "queueMs": .integer(Self.queueTime),
        ]
        let isBroadcast = arguments.has(Command.runBroadcast)
        if !isBroadcast { params["priority"] = end == .exited(0) ? "normal" : "high" }
        let text = JSONValue.object(params).serialized()
        let answer = try session.answer(of: desktop, until: deadline) { left, completion, userData, destroy in
            isBroadcast
                ? bw_notification_broadcast_async(
                    session.pointer, desktop.id, text, left, completion, userData, destroy)
                : bw_notification_send_async(session.pointer, desktop.id, text, left, completion, userData, destroy)
        }
        if answer["success"]?.bool == false, answer["silenced"]?.bool != true {
            throw Failure(.failed, "\(desktop.name) refused: \(answer["error"]?.string ?? "no reason given")")
        }
        return answer
    }

    /// How long it may wait for an encrypted desktop that is away: a day, in milliseconds.
    private static let queueTime: Int64 = 86_400_000

    /// The limit of a title.
    private static func cut(_ text: String) -> String {
        var text = Printable.line(text)
        while text.utf8.count > 1_024 { text.removeLast() }
        return text
    }

    /// The two largest units.
    static func duration(_ milliseconds: Int64) -> String {
        let seconds = milliseconds / 1000
        if seconds < 10 { return "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s" }
        if seconds < 60 { return "\(seconds) s" }
        if seconds < 3600 { return "\(seconds / 60) min \(seconds % 60) s" }
        return "\(seconds / 3600) h \(seconds % 3600 / 60) min"
    }
}
