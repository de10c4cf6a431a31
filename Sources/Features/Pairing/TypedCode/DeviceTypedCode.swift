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
}

/// The actions that the owner of a ``DeviceTypedCodeStateMachine`` performs, in this order.
///
/// The next event may be given while an action is carried out: what can cause one at once comes last.
package indirect enum DeviceTypedCodeAction: Sendable, Equatable {
    /// Be registered there with the own DID, as ``DeviceScanAction/open(_:)`` says.
    case open(PairingRoute)
    /// The code needs this connection no more. After a success it is not closed: it is the desktop's.
    case close(RouteID)
    /// Send a step of CPace to the desktop's alias, as it is: nobody has a key to seal it with yet.
    case sendExchange(PairingExchange, to: PeerID, over: RouteID)
    /// Send the ack, in a seal if so asked.
    case sendAck(PairAck, to: PeerID, sealed: Bool, over: RouteID)
    /// Call `timedOut` in so many milliseconds; replaces the timer before it.
    case startTimer(after: UInt64)
    case stopTimer
    /// Write it to the store, then say `stored` or `storeFailed`.
    case store(PairedDesktop)
    /// Tell the host.
    case report(DeviceTypedCodeState)
}
