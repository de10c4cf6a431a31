import CBellwire
import JSON

/// `bellwire pair --show`: a code of this device's own, until a desktop has taken it or it ends.
final class ShownCode {
    /// What the relay has until this device is registered, in milliseconds.
    private static let connectTime: Int32 = 20_000
    /// Afterwards this device stays so long: a desktop that has not got its answer asks again every 2.5 s.
    private static let lingerTime: Int64 = 5_500

    private let session: DeviceSession
    private let alsoText: Bool
    private let json: Bool
    private var outcome: Result<JSONValue, Failure>?

    init(_ session: DeviceSession, alsoText: Bool, json: Bool) {
        self.session = session
        self.alsoText = alsoText
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
        switch try session.handle.wait(until: deadline, isDone: { () throws(Failure) in outcome != nil }) {
        case .signal(let signal): throw .interrupted(signal)
        case .deadline: throw ShownCode.failure("timeout", "no desktop scanned the code in time")
        case .done: break
        }
        Command.showPaired(try outcome?.get() ?? .null, json: json)
        _ = try session.handle.wait(until: Clock.now &+ ShownCode.lingerTime)
    }

    private func show(_ offer: JSONValue) throws(Failure) {
        if json { return Output.json(["event": "offer", "data": offer]) }
        try QRDrawing.show(
            offer["payload"]?.string ?? "",
            says:
                "Scan this code with your desktop, or pass its text to bellwire desktop --scan. It expires in five minutes.",
            alsoText: alsoText)
    }

    private func changed(_ data: JSONValue) {
        switch data["state"]?.string {
        case "completed": outcome = .success(data["desktop"] ?? .null)
        case "expired":
            outcome = .failure(ShownCode.failure("expired", "the code expired before a desktop scanned it"))
        case "failed":
            let reason = data["reason"]?.string ?? ""
            outcome = .failure(ShownCode.failure(reason, data["message"]?.string ?? "pairing failed"))
        default: break
        }
    }

    /// As `bw_last_error` would say it.
    private static func failure(_ reason: String, _ message: String) -> Failure {
        // Here it is the code that nobody came for.
        let exit = reason == "expired" ? .offline : Exit(BW_E_PAIRING.rawValue, reason: reason)
        let error: JSONValue = [
            "status": "BW_E_PAIRING", "message": .string(message), "detail": ["reason": .string(reason)],
        ]
        return Failure(exit, message, error: error)
    }
}
