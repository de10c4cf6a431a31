package import JSON
package import Wire

/// The state of a scan, for hosts (WirePairing, "States and reasons").
package indirect enum DeviceScanState: Sendable, Equatable {
    /// Waiting for a code.
    case scanning
    case sending(DesktopPairingOffer)
    /// Where it was sealed, the desktop has the short authentication string.
    case success(PairedDesktop)
    case failed(PairingFailure)

    /// `pairing.changed`: `{"flow":"scan","state",…}`.
    package var data: JSONObject {
        switch self {
        case .scanning: ["flow": "scan", "state": "scanning"]
        case .sending(let offer):
            [
                "flow": "scan", "state": "sending",
                "desktop": ["id": .string(offer.pcPeerID.text), "name": .string(offer.deviceInfo.name)],
            ]
        case .success(let desktop): ["flow": "scan", "state": "success", "desktop": .object(desktop.json)]
        case .failed(let failure): failure.data(flow: "scan")
        }
    }

    var outcome: Result<JSONValue, PairingFailure>? {
        switch self {
        case .scanning, .sending: nil
        case .success(let desktop): .success(.object(desktop.json))
        case .failed(let failure): .failure(failure)
        }
    }
}

extension PairingFailure {
    /// `{"flow","state":"failed","reason","message"}`
    func data(flow: String, state: String = "failed") -> JSONObject {
        [
            "flow": .string(flow), "state": .string(state), "reason": .string(reason.rawValue),
            "message": .string(message),
        ]
    }
}
