import CBellwire
import JSON

/// A change at a desktop that waits in the queue where the desktop is away: of the inbox, or of its settings.
final class DesktopChange {
    static let queueOnly = Option(
        "queue", "Does not connect: puts the change into the queue, to be sent with the next connection.")
    static let timeout = Option.timeout(
        10, "How long to wait for the desktop before the change goes into the queue (see bellwire queue).")
    static let options = [queueOnly, timeout, .desktop]

    private let session: DeviceSession
    private let desktop: PairedPeer
    private var connects: Bool
    private let timeout: Int64
    private var isConnected = false
    /// `queue.ended` of what was queued.
    private var ended: [String: JSONValue] = [:]

    init(_ session: DeviceSession, _ desktop: PairedPeer, _ arguments: Arguments) throws(Failure) {
        self.session = session
        self.desktop = desktop
        connects = !arguments.has(DesktopChange.queueOnly)
        timeout = Int64(try arguments.milliseconds(DesktopChange.timeout))
        try session.handle.subscribe("queue.ended") { [weak self] _, event in
            if let data = event["data"], let id = data["id"]?.string { self?.ended[id] = data }
        }
    }

    /// Does not connect, because the desktop is no longer paired.
    func staysHere() { connects = false }

    /// Connects once, unless the change only goes into the queue. An offline desktop is not a failure.
    private func connect() throws(Failure) {
        guard connects else { return }
        connects = false
        do throws(Failure) {
            try session.connect(to: desktop, until: Clock.now &+ timeout)
            isConnected = true
        } catch {
            guard error.exit == .offline else { throw error }
        }
    }

    /// Connects and makes the change. If it had to queue behind others, waits for its end.
    ///
    /// - Returns: the desktop's answer, or `{"queued":true,"id"}`.
    func carryOut(
        _ call: (Int32, bw_completion, UnsafeMutableRawPointer, bw_destroy) -> bw_status
    ) throws(Failure) -> JSONValue {
        try connect()
        let deadline = Clock.now &+ timeout
        let answer: JSONValue
        do throws(Failure) { answer = try session.answer(of: desktop, until: deadline, call) } catch {
            // It was sent without an answer, and the queue sends it again.
            guard let queued = error.error?["detail"], queued["queued"]?.bool == true else { throw error }
            answer = queued
        }
        guard answer["queued"]?.bool == true, let id = answer["id"]?.string, isConnected else {
            guard answer["success"]?.bool != false else {
                let reason = answer["error"]?.string ?? "no reason given"
                throw Failure(.failed, "\(desktop.name) refused: \(reason)")
            }
            return answer
        }
        let wake = try session.handle.wait(
            until: deadline, waitingFor: Progress { [desktop] in desktop.name },
            isDone: { () throws(Failure) in ended[id] != nil })
        if case .signal(let signal) = wake { throw .interrupted(signal) }
        guard let end = ended[id] else { return answer }
        guard end["outcome"]?.string == "failed" else { return end["result"] ?? ["success": true] }
        throw Failure(.failed, "\(desktop.name) refused: \(end["error"]?["message"]?.string ?? "no reason given")")
    }

    /// Prints the outcome, or that the change waits.
    ///
    /// - Parameter what: what has been changed, for JSON.
    static func say(
        _ answer: JSONValue, of desktop: PairedPeer, json: Bool, what: JSONObject = [:], done: String
    ) {
        if json {
            var object: JSONObject = ["desktop": .string(desktop.id)]
            object.merge(what)
            object.merge(answer.object ?? [:])
            return Output.json(.object(object))
        }
        guard answer["queued"]?.bool == true else { return Output.line(done) }
        Output.line("Queued until \(desktop.name) is online (see bellwire queue).")
    }
}
