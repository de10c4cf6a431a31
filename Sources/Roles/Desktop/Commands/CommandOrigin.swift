import JSON
import Pairing
import Wire

/// The destination of a command's answer.
enum CommandOrigin: Sendable {
    /// A call of the host's own.
    case host(OwnCallID)
    /// A push that was scheduled: nobody waits for its answer.
    case schedule
    case device(DeviceRequest)
}

/// A device's request, with everything that its answer needs, even if the device is unpaired in the meantime.
struct DeviceRequest: Sendable {
    let device: PeerID
    let id: RequestID
    /// The answer takes the same form (WireDeployedPeers, "What a desktop sends").
    let form: PayloadForm
    /// The route that it came over.
    let route: RouteID
    /// The answer is sealed.
    let isSecure: Bool
    /// The device reads errors as objects.
    let isBellwire: Bool
    let revocation: RevocationFlag

    /// - Parameter isBellwire: only Bellwire devices set an expiry, also those that were paired without a seal.
    init(
        _ request: AnswerableRequest, from device: PairedDevice, _ session: DeviceSession, over route: RouteID,
        isBellwire: Bool = false
    ) {
        (self.device, id, form, self.route) = (device.did, request.id, request.form, route)
        isSecure = device.isSecure
        self.isBellwire = isBellwire || device.isSecure
        revocation = session.revocation
    }

    init(_ request: AnswerableRequest, ofStranger peer: PeerID, over route: RouteID) {
        (device, id, form, self.route) = (peer, request.id, request.form, route)
        (isSecure, isBellwire, revocation) = (false, false, RevocationFlag())
    }

    /// The payload of the answer. A device that has been unpaired in the meantime gets only an error that says so.
    func response(_ outcome: CommandResponse.Outcome) -> JSONValue {
        CommandResponse(id: id, outcome: revocation.isRevoked ? .error(.notPaired) : outcome)
            .payload(as: CommandResponse.Form(form, isBellwire: isBellwire))
    }
}

extension RemoteError {
    static let notPaired = RemoteError(.permissionDenied, "this device is not paired")
}
