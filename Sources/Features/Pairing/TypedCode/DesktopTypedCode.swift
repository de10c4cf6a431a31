package import JSON
package import Wire

/// The state of a code that a desktop shows to be typed, for hosts (WirePairing, "States and reasons").
package indirect enum DesktopTypedCodeState: Sendable, Equatable {
    case idle
    /// A relay is asked for the alias: nobody could type a code before that.
    case connecting
    /// Shown until `expiresAt`, in epoch milliseconds.
    case displaying(PairingTypedCode, expiresAt: EpochMilliseconds)
    /// A device has proved that it knows the code. With `answerBy` a person has until then to accept it; without, it is
    /// being stored.
    case acked(PairedDevice, answerBy: EpochMilliseconds?)
    /// Where it was sealed, the device has the short authentication string.
    case paired(PairedDevice)
    case expired
    case cancelled
    case failed(PairingFailure)

    /// `pairing.changed`: `{"flow":"code","state",…}`.
    package var data: JSONObject {
        switch self {
        case .idle: ["flow": "code", "state": "idle"]
        case .connecting: ["flow": "code", "state": "connecting"]
        case .displaying(let code, let expiresAt):
            ["flow": "code", "state": "displaying", "code": .string(code.text), "expiresAt": .integer(expiresAt)]
        case .acked(let device, let answerBy): device.ackedData(flow: "code", answerBy: answerBy)
        case .paired(let device): ["flow": "code", "state": "paired", "device": .object(device.json)]
        case .expired: PairingFailure(.expired).data(flow: "code", state: "expired")
        case .cancelled: PairingFailure(.cancelled).data(flow: "code", state: "cancelled")
        case .failed(let failure): failure.data(flow: "code")
        }
    }

    var outcome: Result<JSONValue, PairingFailure>? {
        switch self {
        case .displaying(let code, let expiresAt):
            .success(["code": .string(code.text), "expiresAt": .integer(expiresAt)])
        case .expired: .failure(PairingFailure(.expired))
        case .cancelled: .failure(PairingFailure(.cancelled))
        case .failed(let failure): .failure(failure)
        case .idle, .connecting, .acked, .paired: nil
        }
    }
}
