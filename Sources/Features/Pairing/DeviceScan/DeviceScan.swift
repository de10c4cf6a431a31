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

/// The actions that the owner of a ``DeviceScanStateMachine`` performs, in this order.
///
/// The next event may be given while an action is carried out: what can cause one at once comes last.
package indirect enum DeviceScanAction: Sendable, Equatable {
    /// Be registered there with the own DID, over a new connection or one that there is already (a second one would
    /// drive out the first). Then `routeOnline`, at once if it is; or `routeFailed`, also for an address that is none.
    /// A connection that breaks comes back by itself; asked for again, it comes back at once.
    case open(PairingRoute)
    /// Send the ack there, in a seal if so asked, then say `ackSent`.
    case sendAck(PairAck, to: PeerID, sealed: Bool, over: RouteID)
    /// The scan needs this connection no more. After a success those that work are not closed: they are the desktop's.
    case close(RouteID)
    /// Call `stepTimedOut` in so many milliseconds; replaces the timer before it.
    case startTimer(after: UInt64)
    case stopTimer
    /// Write it to the store, then say `stored` or `storeFailed`.
    case store(PairedDesktop)
    /// Tell the host.
    case report(DeviceScanState)
}
