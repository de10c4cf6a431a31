package import JSON
package import Wire

/// What a pairing flow sends (WirePairing, "Overview").
package indirect enum PairingContent: Sendable, Equatable {
    case ack(PairAck)
    case challenge(PairingChallenge)
    case confirmation(PairingConfirmation)
    /// A step of CPace.
    case exchange(PairingExchange)
    case reject(PairingReject)
    /// For a deployed device: the only sign that it waits for (WirePairing, "After pairing").
    case iceConfig(ICEConfig)

    /// The payload of a `message`.
    package var json: JSONValue {
        switch self {
        case .ack(let ack): ack.json
        case .challenge(let challenge): challenge.json
        case .confirmation(let confirmation): confirmation.json
        case .exchange(let exchange): exchange.json
        case .reject(let reject): reject.json
        case .iceConfig(let config): config.json
        }
    }
}
