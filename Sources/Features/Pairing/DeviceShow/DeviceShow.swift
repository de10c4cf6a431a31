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
}

/// The actions that the owner of a ``DeviceShowStateMachine`` performs, in this order.
///
/// The next event may be given while an action is carried out: what can cause one at once comes last.
package indirect enum DeviceShowAction: Sendable, Equatable {
    /// Be registered there with the own DID, as ``DeviceScanAction/open(_:)`` says.
    case open(PairingRoute)
    /// The code needs this connection no more. After a success it is not closed: it is the desktop's.
    case close(RouteID)
    /// Send `bellwire:hello` to the desktop, in a seal: the answer to its confirmation, with a proof for a desktop of
    /// revision 1.
    case sendHello(to: PeerID, over: RouteID, proof: PairingHello.Proof? = nil)
    /// Call `timedOut` in so many milliseconds; replaces the timer before it.
    case startTimer(after: UInt64)
    case stopTimer
    /// Write it to the store, then say `stored` or `storeFailed`.
    case store(PairedDesktop)
    /// Tell the host.
    case report(DeviceShowState)
}
