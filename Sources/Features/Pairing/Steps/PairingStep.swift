package import Wire

/// What a pairing machine's owner does, in this order. All machines return these.
///
/// The next event may be given while a step is carried out: what can cause one at once comes last.
package indirect enum PairingStep<Known: Sendable & Equatable>: Sendable, Equatable {
    /// Be registered there with the own id, over a new connection or one that there is already (a second one would drive
    /// out the first). Then `routeOnline`, at once if it is; or `routeFailed`, also for an invalid address. A connection
    /// that breaks comes back by itself; asked for again, it comes back at once.
    case open(PairingRoute)
    /// The flow needs this connection no more. After a success those that work are not closed: they are the peer's.
    case close(RouteID)
    /// Be registered with this id on a connection of its own, at a relay that has the desktop registered as well
    /// (WirePairing, "Typed codes"). Then `aliasOnline`; `aliasTaken` where it belongs to another; `aliasFailed` for
    /// anything else. A connection that breaks comes back by itself.
    case openAlias(PeerID)
    case closeAlias
    /// Then say ``PairingMachine/sent(over:routes:now:)``.
    case send(PairingContent, to: PeerID, sealed: Bool, PairingPath)
    /// Send `bellwire:hello` to the desktop, in a seal: the answer to its confirmation, with a proof for a desktop of
    /// revision 1.
    case sendHello(to: PeerID, over: RouteID, proof: PairingHello.Proof? = nil)
    /// Tell the device, in a seal, that it is not paired, whatever it has come to believe; unless it was paired before,
    /// and so still is.
    case withdraw(PeerID)
    /// Call `timedOut` in so many milliseconds; replaces the timer before it.
    case startTimer(after: UInt64)
    case stopTimer
    /// Write it to the store, then say `stored` or `storeFailed`.
    case store(Known)
    /// Tell the host.
    case report(PairingState)
}

/// How a flow's frame travels.
package enum PairingPath: Sendable, Equatable {
    case over(RouteID)
    /// The route that the peer was last heard over; `nil` = its best.
    case lastHeard(RouteID? = nil)
    /// Every route that is up: where the peer is, its code does not say.
    case everywhere
    /// The connection of a typed code's alias, so that it comes from the alias.
    case alias
}

/// A person's answer to a machine that asks.
package enum PairingAnswer<Known: Sendable & Equatable>: Sendable, Equatable {
    case taken([PairingStep<Known>])
    /// Nobody waits for an answer.
    case nothingWaits
}

extension PairingStep {
    /// A desktop has no ICE servers: deployed phones take the frame itself for the confirmation.
    static func iceServers(of desktop: PeerID, to device: PeerID, at now: EpochMilliseconds) -> PairingStep {
        let config = ICEConfig(pcPeerID: desktop, iceServersJSON: "[]", timestamp: now)
        return .send(.iceConfig(config), to: device, sealed: false, .lastHeard())
    }
}
