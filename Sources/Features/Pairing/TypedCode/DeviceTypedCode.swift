package import JSON
package import Wire

/// The state of a typed code, for hosts (WirePairing, "States and reasons").
package indirect enum DeviceTypedCodeState: Sendable, Equatable {
    case entering
    /// A relay is asked to register us.
    case submitting(PairingTypedCode)
    /// The desktop was written to.
    case waiting(PairingTypedCode)
    /// Where it was sealed, the desktop has the short authentication string.
    case success(PairedDesktop)
    case failed(PairingFailure)

    /// `pairing.changed`: `{"flow":"code","state",…}`. Only the six digits that the relay sees as well are told again.
    package var data: JSONObject {
        switch self {
        case .entering: ["flow": "code", "state": "entering"]
        case .submitting(let code):
            ["flow": "code", "state": "submitting", "code": .string(code.nameplate.digits)]
        case .waiting(let code): ["flow": "code", "state": "waiting", "code": .string(code.nameplate.digits)]
        case .success(let desktop): ["flow": "code", "state": "success", "desktop": .object(desktop.json)]
        case .failed(let failure): failure.data(flow: "code")
        }
    }

    var outcome: Result<JSONValue, PairingFailure>? {
        switch self {
        case .entering, .submitting, .waiting: nil
        case .success(let desktop): .success(.object(desktop.json))
        case .failed(let failure): .failure(failure)
        }
    }
}
