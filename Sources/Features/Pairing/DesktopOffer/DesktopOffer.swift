package import JSON
package import Wire

/// The state of a desktop's offer, for hosts (WirePairing, "States and reasons").
package indirect enum DesktopOfferState: Sendable, Equatable {
    case idle
    /// Shown until `expiresAt`, in epoch milliseconds.
    case displaying(DesktopPairingOffer, expiresAt: EpochMilliseconds)
    /// A device has answered with the right code. With `answerBy` a person has until then to accept it; without, it is
    /// being stored.
    case acked(PairedDevice, answerBy: EpochMilliseconds?)
    /// Where it was sealed, the device has the short authentication string.
    case paired(PairedDevice)
    case expired
    case cancelled
    case failed(PairingFailure)

    /// `pairing.changed`: `{"flow":"offer","state",…}`.
    package var data: JSONObject {
        switch self {
        case .idle: ["flow": "offer", "state": "idle"]
        case .displaying(let offer, let expiresAt):
            [
                "flow": "offer", "state": "displaying", "payload": .string(offer.serialized()),
                "code": .string(offer.code.digits), "expiresAt": .integer(expiresAt),
            ]
        case .acked(let device, let answerBy): device.ackedData(flow: "offer", answerBy: answerBy)
        case .paired(let device): ["flow": "offer", "state": "paired", "device": .object(device.json)]
        case .expired: PairingFailure(.expired).data(flow: "offer", state: "expired")
        case .cancelled: PairingFailure(.cancelled).data(flow: "offer", state: "cancelled")
        case .failed(let failure): failure.data(flow: "offer")
        }
    }
}

extension PairedDevice {
    /// `{"flow","state":"acked","device","confirm","expiresAt"?}`: with `confirm` a person is asked until `expiresAt`.
    func ackedData(flow: String, answerBy: EpochMilliseconds?) -> JSONObject {
        [
            "flow": .string(flow), "state": "acked", "device": .object(json), "confirm": .bool(answerBy != nil),
            "expiresAt": answerBy.map(JSONValue.integer),
        ]
    }
}

extension EpochMilliseconds {
    /// Later by so much, or as late as can be said.
    func later(by milliseconds: EpochMilliseconds) -> EpochMilliseconds {
        let (sum, overflow) = addingReportingOverflow(milliseconds)
        return overflow ? (milliseconds > 0 ? .max : .min) : sum
    }

    /// What is left until then, in milliseconds, of so much in all: a clock that was set back lengthens nothing. At least 1.
    func remaining(until end: EpochMilliseconds, of lifetime: EpochMilliseconds) -> UInt64 {
        let (rest, overflow) = end.subtractingReportingOverflow(self)
        return UInt64(clamping: overflow ? lifetime : Swift.min(Swift.max(rest, 1), lifetime))
    }
}
