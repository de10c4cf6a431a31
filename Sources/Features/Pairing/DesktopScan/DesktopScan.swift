package import JSON
package import Wire

/// The state of a desktop's scan, for hosts (WirePairing, "States and reasons").
package indirect enum DesktopScanState: Sendable, Equatable {
    case idle
    /// A device's code was read and holds.
    case scanned(DevicePairingOffer)
    /// A person has until `answerBy`, in epoch milliseconds, to accept the device.
    case confirming(DevicePairingOffer, answerBy: EpochMilliseconds)
    /// The device is being told.
    case sending(DevicePairingOffer)
    /// Where it was sealed, the device has the short authentication string.
    case paired(PairedDevice)
    case expired
    case cancelled
    case failed(PairingFailure)

    /// `pairing.changed`: `{"flow":"scan","state",…}`.
    package var data: JSONObject {
        switch self {
        case .idle: ["flow": "scan", "state": "idle"]
        case .scanned(let offer): ["flow": "scan", "state": "scanned", "device": offer.device]
        case .confirming(let offer, let answerBy):
            ["flow": "scan", "state": "confirming", "device": offer.device, "expiresAt": .integer(answerBy)]
        case .sending(let offer): ["flow": "scan", "state": "sending", "device": offer.device]
        case .paired(let device): ["flow": "scan", "state": "paired", "device": .object(device.json)]
        case .expired: PairingFailure(.expired).data(flow: "scan", state: "expired")
        case .cancelled: PairingFailure(.cancelled).data(flow: "scan", state: "cancelled")
        case .failed(let failure): failure.data(flow: "scan")
        }
    }
}

extension DevicePairingOffer {
    /// Who shows it, as a person who accepts it has to see it.
    fileprivate var device: JSONValue {
        [
            "id": .string(did.text), "deviceId": deviceInfo.deviceID.map(JSONValue.string),
            "name": .string(deviceInfo.name), "platform": .string(deviceInfo.platform), "secure": .bool(seal != nil),
        ]
    }
}
