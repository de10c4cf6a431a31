import Commands
import Hosting
import JSON
import Wire

/// The outcome of a command. Every command that is given to ``CommandSender`` gets exactly one.
enum CommandOutcome: Sendable, Equatable {
    /// The desktop's result. Its `success` may be false.
    case answered(JSONObject)
    /// It waits in the offline queue under this id; a ``QueueEnd`` tells what becomes of it.
    case queued(RequestID)
    /// It was not carried out, and won't be: the desktop refuses or does not know it, or its answer can't be decoded.
    case refused(Refusal)
    /// It did not leave this machine.
    case notSent(HostError)
    /// The relays report the desktop offline.
    case absent(HostError)
    /// It was sent; then its connection or its time ended. The desktop may have carried it out.
    case unanswered(RequestID, HostError)
    /// The device was stopped, suspended or closed, or the desktop was unpaired, while it was in progress.
    case ended(RequestID, HostError)

    struct Refusal: Sendable, Equatable {
        let error: HostError
        /// The desktop may allow it after so many milliseconds.
        var retryAfter: Int64?
        /// The desktop failed to carry it out, and may succeed later.
        var isTransient = false
        /// The desktop has no notification commands (WireDeployedPeers, "The desktop app").
        var lacksSkill = false
    }

    /// `nil` for what was answered or queued.
    var error: HostError? {
        switch self {
        case .answered, .queued: nil
        case .refused(let refusal): refusal.error
        case .notSent(let error), .absent(let error), .unanswered(_, let error), .ended(_, let error): error
        }
    }

    /// As the host of the device gets it.
    var reply: Result<HostReply, HostError> {
        switch self {
        case .answered(let result): .success(HostReply(result))
        case .queued(let id): .success(HostReply(["queued": true, "id": .string(id.text)], isQueued: true))
        case .refused(let refusal): .failure(refusal.error)
        case .notSent(let error), .absent(let error), .unanswered(_, let error), .ended(_, let error): .failure(error)
        }
    }
}

extension CommandOutcome.Refusal {
    init(_ error: CommandError) {
        retryAfter = error.remote?.retryAfter
        self.error = HostError(error)
        isTransient = retryAfter != nil || error.code == .timeout || error.remote?.code == .internalError
        lacksSkill = error.lacksSkill
    }
}

extension HostError {
    static var noSkill: Self {
        HostError(
            .unsupported, "this desktop does not support this command; the library asks again after the next connection"
        )
    }

    init(_ error: CommandError) {
        var detail: JSONObject = [:]
        if let remote = error.remote {
            detail = ["code": remote.code.map { .integer($0.number) }, "message": .string(remote.message)]
        }
        self.init(Code(error), error.message, detail: detail)
    }

    /// `nil` unless the desktop reports that it did not execute the command.
    init?(refusedBy result: JSONObject) {
        guard result["success"] == false else { return nil }
        let said = result["error"]?.string ?? "no reason given"
        // Hosts show it to people, some on a terminal.
        let shown = String(String.UnicodeScalarView(said.unicodeScalars.map { $0.isControl ? " " : $0 }))
        self.init(.remote, "the desktop refused: \(shown)", detail: ["message": .string(shown)])
    }
}

extension HostError.Code {
    fileprivate init(_ error: CommandError) {
        switch error.code {
        case .offline: self = .offline
        case .timeout: self = .timeout
        case .closed: self = .closed
        case .tooMany: self = .limit
        case .denied: self = .denied
        case .unsupported: self = .unsupported
        case .undecodable: self = .undecodable
        default: self = .remote  // `cancelled`, `remote`, and codes that `CommandError` may gain
        }
    }
}

extension Unicode.Scalar {
    /// C0, DEL and C1.
    fileprivate var isControl: Bool { value < 0x20 || (0x7F..<0xA0).contains(value) }
}
