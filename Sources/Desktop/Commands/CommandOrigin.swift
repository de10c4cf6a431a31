import JSON
import Wire

/// Where the answer to a command goes.
enum CommandOrigin: Sendable {
    /// A call of the host's own.
    case host(HostCallID)
    case device(DeviceRequest)
}

/// A device's request, with what its answer needs, whatever becomes of the device meanwhile.
struct DeviceRequest: Sendable {
    let device: PeerID
    let id: RequestID
    /// The answer takes the same form (`protocol.md` 3).
    let form: PayloadForm
    /// The relay that it came over.
    let route: String
    /// The answer is sealed.
    let isSecure: Bool
    /// The device reads errors as objects.
    let isBellwire: Bool
    let revocation: RevocationFlag

    init(
        _ request: AnswerableRequest, from device: PeerID, over route: String, isSecure: Bool, isBellwire: Bool,
        revocation: RevocationFlag
    ) {
        (self.device, id, form, self.route) = (device, request.id, request.form, route)
        (self.isSecure, self.isBellwire, self.revocation) = (isSecure, isBellwire, revocation)
    }

    /// The payload of the answer. A device that was unpaired meanwhile is told only that.
    func response(_ outcome: CommandResponse.Outcome) -> JSONValue {
        CommandResponse(id: id, outcome: revocation.isRevoked ? .error(.notPaired) : outcome)
            .payload(as: CommandResponse.Form(form, isBellwire: isBellwire))
    }
}

extension RemoteError {
    static let notPaired = RemoteError(.permissionDenied, "this device is not paired")
}
