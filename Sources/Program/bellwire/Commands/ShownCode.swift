import CBellwire
import JSON

/// `bellwire pair --show`: a code of this device's own, until a desktop has taken it or it ends.
final class ShownCode {
    /// What the relay has until this device is registered, in milliseconds.
    private static let connectTime: Int32 = 20_000
    /// How long the desktop has to show that it has this device's last answer, in milliseconds. It asks for it again every
    /// 2.5 s.
    private static let lastTime: Int32 = 5_500

    private let session: DeviceSession
    private let textOnly: Bool
    private let acceptsAll: Bool
    private let json: Bool
    /// The desktop that waits for a person's answer.
    private var asked: PairedPeer?
    private var outcome: Result<JSONValue, Failure>?

    init(_ session: DeviceSession, textOnly: Bool, acceptsAll: Bool, json: Bool) {
        self.session = session
        self.textOnly = textOnly
        self.acceptsAll = acceptsAll
        self.json = json
    }

    /// - Parameter timeout: in milliseconds; `nil` = as long as the code holds.
    func run(_ timeout: Int32?) throws(Failure) {
        let deadline = timeout.map { Clock.now &+ Int64($0) }
        let connectTime = min(timeout ?? ShownCode.connectTime, ShownCode.connectTime)
        try session.handle.subscribe("pairing.changed") { [unowned self] _, event in
            if let data = event["data"], data["flow"]?.string == "show" { changed(data) }
        }
        let offer = try session.handle.completion(waitingFor: "the relay") { completion, userData, destroy in
            bw_pairing_show_async(session.pointer, connectTime, completion, userData, destroy)
        }
        try show(offer)
        let input = LineInput(json: false) { [unowned self] line in answer((try? line.text.get()) ?? "?") }
        input.isWanted = false
        let wake = try session.handle.wait(until: deadline, input: input) { () throws(Failure) in
            if !input.isOpen, asked != nil { decide(false) }
            input.isWanted = asked != nil
            return outcome != nil
        }
        switch wake {
        case .signal(let signal): throw .interrupted(signal)
        case .deadline: throw ShownCode.failure("timeout", "no desktop scanned the code in time")
        case .done: break
        }
        let desktop = try outcome?.get() ?? .null
        Command.showPaired(desktop, json: json)
        try Command.warnOfForgery(of: desktop, in: session)
        if desktop["secure"]?.bool == true { try settle(desktop["id"]?.string ?? "") }
    }

    /// Stays until the desktop has stored this device. Only then it answers a command, whatever the answer is.
    private func settle(_ desktop: String) throws(Failure) {
        var isSettled = false
        try session.handle.begin(
            { completion, userData, destroy in
                bw_notification_get_unread_count_async(
                    session.pointer, desktop, nil, ShownCode.lastTime, completion, userData, destroy)
            }, then: { _ in isSettled = true })
        _ = try session.handle.wait(until: Clock.now &+ Int64(ShownCode.lastTime)) { () throws(Failure) in isSettled }
    }

    private func show(_ offer: JSONValue) throws(Failure) {
        if json { return Output.json(["event": "offer", "data": offer]) }
        try QRDrawing.show(
            offer["payload"]?.string ?? "",
            says:
                "Scan this code with your desktop, or pass its text to bellwire desktop --scan. It expires in five minutes.",
            textOnly: textOnly)
    }

    private func changed(_ data: JSONValue) {
        let unanswered = asked
        asked = nil
        switch data["state"]?.string {
        case "confirming": if let desktop = data["desktop"].flatMap({ PairedPeer($0) }) { decideAbout(desktop) }
        case "displaying":
            if let unanswered { Output.notice("refused \(unanswered.title): no answer; the code stays valid") }
        case "completed": outcome = .success(data["desktop"] ?? .null)
        case "expired":
            outcome = .failure(ShownCode.failure("expired", "the code expired before a desktop scanned it"))
        case "failed":
            let reason = data["reason"]?.string ?? ""
            outcome = .failure(ShownCode.failure(reason, data["message"]?.string ?? "pairing failed"))
        default: break
        }
    }

    // MARK: A desktop that proves nothing

    private func decideAbout(_ desktop: PairedPeer) {
        asked = desktop
        if acceptsAll { return decide(true) }
        guard LineInput.canAsk else {
            Output.notice(
                "\(desktop.title): it can't prove that it saw the code, and there is no terminal to ask on; use --accept "
                    + "to accept such desktops")
            return decide(false)
        }
        // What was typed before the question answers nothing.
        LineInput.forgetTyped()
        ask(desktop)
    }

    private func ask(_ desktop: PairedPeer) {
        Output.notice(
            "\(desktop.title) wants to pair. It can't prove that it saw the code. Accept? y or n, within 30 s:")
    }

    private func answer(_ line: String) {
        guard let asked else { return }
        switch line.trimmed.lowercased() {
        case "y", "yes": decide(true)
        case "n", "no", "": decide(false)
        default: ask(asked)
        }
    }

    private func decide(_ accept: Bool) {
        let desktop = asked
        asked = nil
        // If it is too late, pairing.changed says so.
        let isTaken = bw_pairing_confirm(session.pointer, "show", accept ? 1 : 0) >= 0
        if !accept, isTaken, let desktop { Output.notice("refused \(desktop.title)") }
    }

    /// As `bw_last_error` would say it.
    private static func failure(_ reason: String, _ message: String) -> Failure {
        let message = LibraryWords.text(message)
        // Here it is the code that nobody came for.
        let exit = reason == "expired" ? .offline : Exit(BW_E_PAIRING.rawValue, reason: reason)
        let error: JSONValue = [
            "status": "BW_E_PAIRING", "message": .string(message), "detail": ["reason": .string(reason)],
        ]
        return Failure(exit, message, error: error)
    }
}
