package import JSON
package import Pairing
package import Wire

/// What a pairing machine asks for, of whichever flow.
package enum PairingStep<Known: PairedPeer>: Sendable {
    /// Be registered there; then the machine hears how it stands.
    case connect(PairingRoute)
    /// A link is not needed any more.
    case release
    case send(PairingMessage)
    /// Send `bellwire:hello` to a desktop, in a seal.
    case sendHello(to: PeerID, over: PairingRoute)
    /// Send a deployed device its ICE servers.
    case sendICEConfig(to: PeerID)
    /// Be registered with this id on a link of its own (protocol.md 4.3).
    case openAlias(PeerID)
    case closeAlias
    /// Tell a device that it is not paired, unless it was before.
    case withdraw(PeerID)
    /// Call `timerFired` in so many milliseconds; replaces the timer before it.
    case startTimer(after: UInt64)
    case stopTimer
    case store(Known)
    case report(PairingReport)
}

/// Something that a flow says to a peer.
package struct PairingMessage: Sendable, Equatable {
    package enum Path: Sendable, Equatable {
        case over(PairingRoute)
        /// The link that the peer was heard over last, else the best. `nil` = it was not heard.
        case lastHeard(String?)
        /// Every link that is up.
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

/// How a flow stands.
package struct PairingReport: Sendable {
    /// `pairing.changed`: `{"flow","state",…}`.
    package let data: JSONObject
    /// What those who wait for the flow get; `nil` = they wait on.
    package let outcome: Result<JSONValue, PairingFailure>?

    package init(_ data: JSONObject, _ outcome: Result<JSONValue, PairingFailure>? = nil) {
        self.data = data
        self.outcome = outcome
    }
}
