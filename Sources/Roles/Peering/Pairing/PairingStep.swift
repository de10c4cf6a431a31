package import JSON
package import Pairing
package import Wire

/// An action of any pairing flow, in one vocabulary.
package indirect enum PairingStep<Known: PairedPeer>: Sendable {
    /// Connect there and report the route's state to the machine.
    case connect(PairingRoute)
    /// A route is not needed any more.
    case release
    case send(PairingMessage)
    /// Send `bellwire:hello` to a desktop, in a seal.
    case sendHello(to: PeerID, over: RouteID, PairingHello.Proof?)
    /// Send a deployed device its ICE servers.
    case sendICEConfig(to: PeerID)
    /// Register this id on a separate connection (WirePairing, "Typed codes").
    case openAlias(PeerID)
    case closeAlias
    /// Tell a device that it is not paired, unless it was paired before.
    case withdraw(PeerID)
    /// Call `timerFired` in so many milliseconds; replaces the timer before it.
    case startTimer(after: UInt64)
    case stopTimer
    case store(Known)
    case report(PairingReport)
}

/// A message from a flow to a peer.
package struct PairingMessage: Sendable, Equatable {
    package enum Path: Sendable, Equatable {
        case over(RouteID)
        /// The route that the peer was last heard over, else its best.
        case lastHeard(RouteID?)
        /// Every route that is up.
        case everywhere
        /// The typed code's own link.
        case alias
    }

    package let flow: PairingFlow
    package let payload: JSONValue
    package let peer: PeerID
    package let isSealed: Bool
    package internal(set) var path: Path

    package init(_ flow: PairingFlow, _ payload: JSONValue, to peer: PeerID, isSealed: Bool, _ path: Path) {
        self.flow = flow
        self.payload = payload
        self.peer = peer
        self.isSealed = isSealed
        self.path = path
    }
}

/// A flow's new state.
package struct PairingReport: Sendable {
    /// `pairing.changed`: `{"flow","state",…}`.
    package let data: JSONObject
    /// The result for the flow's waiters; `nil` = keep waiting.
    package let outcome: Result<JSONValue, PairingFailure>?

    package init(_ data: JSONObject, _ outcome: Result<JSONValue, PairingFailure>? = nil) {
        self.data = data
        self.outcome = outcome
    }
}
