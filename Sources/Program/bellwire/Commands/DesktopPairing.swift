import CBellwire
import JSON

/// Pairing in one run of `bellwire desktop`: shows codes, asks the user about devices, reports the results.
final class DesktopPairing {
    /// A device that waits for the user's answer.
    private struct Question {
        let flow: String
        let device: PairedPeer
    }

    /// How long the relay may take to register the digits' alias, in milliseconds. The command blocks for this time.
    private static let aliasTime: Int32 = 3_000

    private let handle: Handle
    private let arguments: Arguments
    private let json: Bool
    private var wantsOffer = false
    private var wantsDigits = false
    private var digitsNotBefore: Int64 = 0
    /// Pause before the next request for digits, in milliseconds. It grows with each attempt.
    private var digitsPause: Int64 = 4_000
    /// The QR code that the digits belong to.
    private var shown: PairingOffer?
    private var scanned: String?
    private var showsDigits = false
    private var questions: [Question] = []
    /// Flows in which a device was refused here. If that ends the flow, the refusal is already printed.
    private var refused: Set<String> = []

    /// - Parameter scanned: the text of a device's code.
    init(_ handle: Handle, _ arguments: Arguments, scanned: String?) {
        self.handle = handle
        self.arguments = arguments
        self.scanned = scanned
        json = arguments.has(.json)
    }

    func begin(isUnpaired: Bool) {
        if arguments.has(Command.pairNever) { return }
        // --qr-text implies --pair.
        let isAsked = arguments.has(Command.pairAlways) || arguments.has(Command.qrText)
        wantsOffer = isAsked || isUnpaired && scanned == nil
        if !wantsOffer, scanned == nil, !json {
            Output.notice("devices are already paired; use --pair to show a code for another one")
        }
    }

    // MARK: Codes

    /// The desktop is registered with a relay: scans the given code, or shows one.
    ///
    /// - Returns: whether it is still registered.
    func online() throws(Failure) -> Bool {
        if let text = scanned {
            scanned = nil
            _ = try result { bw_desktop_scan(handle.pointer, text, $0) }
        }
        if wantsOffer {
            let offer: JSONValue
            do throws(Failure) { offer = try result { bw_desktop_offer(handle.pointer, 10_000, $0) } } catch {
                // The relay has just disconnected: the offer follows when it is back.
                guard error.exit == .offline else { throw error }
                return false
            }
            (wantsOffer, wantsDigits) = (false, true)
            try display(offer)
        }
        if wantsDigits, Clock.now >= digitsNotBefore { displayDigits() }
        return true
    }

    /// When to call ``online()`` again, in ``Clock`` time; `nil` = only after the next event.
    var deadline: Int64? { wantsDigits ? digitsNotBefore : nil }

    private func display(_ offer: JSONValue) throws(Failure) {
        if json { return Output.json(["event": "offer", "data": offer]) }
        let shown = PairingOffer(payload: offer["payload"]?.string ?? "")
        self.shown = shown
        try shown.draw(textOnly: arguments.has(Command.qrText))
    }

    /// The QR code works without digits, so a relay that does not provide them in time is asked again later.
    private func displayDigits() {
        let code: JSONValue
        do throws(Failure) { code = try result { bw_desktop_code(handle.pointer, Self.aliasTime, $0) } } catch {
            _ = bw_desktop_pairing_cancel(handle.pointer, "code")
            if digitsNotBefore == 0 { Output.notice("no digits available: \(error.message)") }
            wantsDigits = error.exit == .offline
            digitsNotBefore = Clock.now &+ digitsPause
            digitsPause = min(digitsPause &* 2, 60_000)
            return
        }
        wantsDigits = false
        showsDigits = true
        if json {
            Output.json(["event": "code", "data": code])
        } else {
            shown?.showDigits(code)
        }
    }

    // MARK: Questions

    var isAsking: Bool { !questions.isEmpty }

    /// Takes a line from the terminal as the answer to the oldest question.
    ///
    /// - Returns: `false` if there was no question.
    func answer(_ line: String) -> Bool {
        guard let question = questions.first else { return false }
        switch line.trimmed.lowercased() {
        case "y", "yes": decide(question, true)
        case "n", "no", "": decide(question, false)
        default: ask(question)
        }
        return true
    }

    /// The input has ended: refuses all devices that wait for an answer.
    func nobodyAnswers() {
        for question in questions { decide(question, false) }
    }

    private func ask(_ question: Question) {
        let proof = question.device.isEncrypted ? "" : " It can't prove that it saw the code."
        Output.notice("\(question.device.title) wants to pair.\(proof) Accept? y or n, within 30 s:")
    }

    private func decide(_ question: Question, _ accept: Bool) {
        questions.removeAll { $0.flow == question.flow }
        // If the answer is too late, the flow reports it.
        let isTaken = bw_desktop_confirm(handle.pointer, question.flow, accept ? 1 : 0) >= 0
        if !accept, isTaken {
            refused.insert(question.flow)
            Output.notice("refused \(question.device.title)")
        }
        if let next = questions.first { ask(next) }
    }

    // MARK: Events

    /// Handles `pairing.changed`, also with `--json`.
    func changed(_ data: JSONValue) {
        let flow = data["flow"]?.string ?? ""
        let unanswered = questions.first { $0.flow == flow }
        questions.removeAll { $0.flow == flow }
        let state = data["state"]?.string ?? ""
        // The digits end together with the QR code.
        if flow == "offer", ["paired", "expired", "cancelled", "failed"].contains(state) { wantsDigits = false }
        switch state {
        case "failed" where unanswered != nil && data["reason"]?.string == "timeout":
            refused.insert(flow)
            Output.notice("refused \(unanswered?.device.title ?? ""): no answer")
        case "displaying":
            // A device that only knew the digits was refused; the code stays valid for others.
            refused.remove(flow)
            if let unanswered {
                Output.notice("refused \(unanswered.device.title): no answer; the code stays valid")
            }
        case "acked" where data["confirm"]?.bool == true, "confirming":
            if let device = data["device"].flatMap({ PairedPeer($0) }) { decideAbout(device, in: flow) }
        // QR code and digits are for one device. Left open, the other code would admit a second one.
        case "paired" where flow == "offer": _ = bw_desktop_pairing_cancel(handle.pointer, "code")
        case "paired" where flow == "code": _ = bw_desktop_pairing_cancel(handle.pointer, "offer")
        default: break
        }
    }

    private func decideAbout(_ device: PairedPeer, in flow: String) {
        let question = Question(flow: flow, device: device)
        if arguments.has(Command.acceptAll) { return decide(question, true) }
        guard LineInput.canAsk else {
            let proof = device.isEncrypted ? "" : "it can't prove that it saw the code, and "
            Output.notice(
                "\(device.title): \(proof)there is no terminal to ask on; use --accept to accept such devices")
            return decide(question, false)
        }
        questions.append(question)
        guard questions.count == 1 else { return }
        // Lines typed before the question are not answers.
        if !arguments.has(Command.stdinOption) { LineInput.forgetTyped() }
        ask(question)
    }

    /// Prints a `pairing.changed` event.
    func show(_ data: JSONValue) {
        let flow = data["flow"]?.string ?? ""
        let isDigits = flow == "code"
        switch data["state"]?.string {
        case "paired":
            let lines = data["device"].flatMap { PairedPeer($0) }?.pairedLines(other: "device") ?? []
            for line in lines { Output.line(line) }
        case "expired":
            let code = isDigits ? "the digits have" : flow == "scan" ? "the device's code has" : "the QR code has"
            Output.notice("\(code) expired\(flow == "scan" ? "" : "; run again with --pair for a new code")")
        case "failed" where refused.remove(flow) != nil: break
        case "failed" where isDigits && !showsDigits: break
        case "failed" where isDigits && data["reason"]?.string == "typed_code_unavailable":
            Output.notice(
                "the digits are void after three wrong attempts; run again with --pair for a new code")
        case "failed":
            let message = data["message"]?.string ?? data["reason"]?.string ?? "no reason given"
            Output.notice("pairing failed: \(LibraryWords.text(message))")
        default: break
        }
    }
}
