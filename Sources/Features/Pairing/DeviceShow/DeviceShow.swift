package import JSON
package import Wire

/// The state of a device's own code, for hosts (WirePairing, "States and reasons").
package indirect enum DeviceShowState: Sendable, Equatable {
    case idle
    /// A relay is asked to register us: nobody could answer a code before that.
    case connecting
    /// Shown until `expiresAt`, in epoch milliseconds.
    case displaying(DevicePairingOffer, expiresAt: EpochMilliseconds)
    /// A desktop that cannot prove that it saw the code has answered it. A person has until `answerBy`, in epoch
    /// milliseconds, to accept it.
    case confirming(PairedDesktop, answerBy: EpochMilliseconds)
    /// Where it was sealed, the desktop has the short authentication string.
    case completed(PairedDesktop)
    case expired
    case failed(PairingFailure)

    /// `pairing.changed`: `{"flow":"show","state",…}`.
    package var data: JSONObject {
        switch self {
        case .idle: ["flow": "show", "state": "idle"]
        case .connecting: ["flow": "show", "state": "connecting"]
        case .displaying(let offer, let expiresAt):
            [
                "flow": "show", "state": "displaying", "payload": .string(offer.serialized()),
                "code": .string(offer.code.digits), "expiresAt": .integer(expiresAt),
            ]
        case .confirming(let desktop, let answerBy):
            [
                "flow": "show", "state": "confirming", "desktop": .object(desktop.json),
                "expiresAt": .integer(answerBy),
            ]
        case .completed(let desktop): ["flow": "show", "state": "completed", "desktop": .object(desktop.json)]
        case .expired: PairingFailure(.expired).data(flow: "show", state: "expired")
        case .failed(let failure): failure.data(flow: "show")
        }
    }

    var outcome: Result<JSONValue, PairingFailure>? {
        switch self {
        case .idle, .connecting, .confirming: nil
        case .displaying(let offer, let expiresAt):
            .success([
                "payload": .string(offer.serialized()), "code": .string(offer.code.digits),
                "expiresAt": .integer(expiresAt),
            ])
        case .completed(let desktop): .success(.object(desktop.json))
        case .expired: .failure(PairingFailure(.expired))
        case .failed(let failure): .failure(failure)
        }
    }
}
