package import JSON
package import Signalling
package import Wire

/// Requests of a ``PairingCoordinator`` to its role, in order. The role may answer at once.
package indirect enum PairingEvent<Known: PairedPeer>: Sendable {
    /// Hold routes to exactly these addresses: ``Routes/hold(_:)``.
    case hold([String])
    /// Connect a held route, then call ``PairingCoordinator/connected(_:_:)``.
    case connect(RouteID)
    /// Send it, then call ``PairingCoordinator/sent(_:relays:)`` with the number of relays that took it.
    case send(PairingMessage)
    /// Send `bellwire:hello` to a desktop, in a seal.
    case sendHello(to: PeerID, over: RouteID, PairingHello.Proof?)
    /// Send a deployed device its ICE servers, over the route that it was last heard over, else its best.
    case sendICEConfig(to: PeerID, over: RouteID?)
    /// Register this id on a separate link, at a relay that has the desktop registered as well.
    case openAlias(PeerID)
    case closeAlias
    /// Tell a device, in a seal, that it is not paired, unless it was paired before.
    case withdraw(PeerID)
    /// Store it together with ``PairingRecord/saveSeal(_:)``, then call ``PairingCoordinator/stored(_:_:accept:)``.
    case store(PairingRecord<Known>)
    /// Process a held frame: its sender's pairing is stored now.
    case receiveAgain(PeerMessage, over: RouteID)
    /// `pairing.changed`, for the host.
    case report(JSONObject)
}
