import JSON
import Peering
import Wire

/// A desktop's request to this device, as its answer needs it (WireDeployedRequests, "Requests to a device").
struct DesktopRequest: Sendable {
    private let id: RequestID
    private let form: CommandResponse.Form

    init(_ request: AnswerableRequest, in incoming: Incoming) {
        id = request.id
        form = CommandResponse.Form(request.form, isBellwire: incoming.isSealed)
    }

    /// The payload of a `message`.
    func answer(_ outcome: CommandResponse.Outcome) -> JSONValue {
        CommandResponse(id: id, outcome: outcome).payload(as: form)
    }
}

extension RemoteError {
    static let noSuchMethod = RemoteError(.methodNotFound, "this device has no such method")
}

extension PushCarrier.CallEnd {
    /// For the desktop that has sent the push as a request; `nil` = it isn't paired any more.
    var answer: CommandResponse.Outcome? {
        switch self {
        case .stored, .duplicate, .recent: .result(["success": true])
        case .full: .error(RemoteError(.internalError, "too many pushes wait on this device"))
        case .failed: .error(RemoteError(.internalError, "this device could not store the push"))
        case .forgotten: nil
        }
    }
}
