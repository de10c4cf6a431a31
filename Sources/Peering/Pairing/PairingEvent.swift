package import JSON
package import Signalling
package import Wire

/// What a ``PairingCoordinator`` asks its role to do, in this order. What the role answers may be said at once.
package enum PairingEvent<Known: PairedPeer>: Sendable {
    /// These links are needed, and no others: ``Routes/hold(_:)``.
    case hold([String])
    /// Ask for a link that is held, and say ``PairingCoordinator/connected(_:_:)``.
    case connect(String)
    /// Send it, and say to how many relays: ``PairingCoordinator/sent(_:relays:)``.
    case send(PairingMessage)
    /// Send `bellwire:hello` to a desktop, in a seal.
    case sendHello(to: PeerID, over: String)
    /// Send a deployed device its ICE servers, over the link that it was heard over, else the best.
    case sendICEConfig(to: PeerID, over: String?)
    /// Be registered with this id on a link of its own, at a relay that has the desktop registered as well.
    case openAlias(PeerID)
    case closeAlias
    /// Tell a device, in a seal, that it is not paired; unless it was before, and so still is.
    case withdraw(PeerID)
    /// Write it to the store, with ``PairingMarks/save(_:)``, then say ``PairingCoordinator/stored(_:_:accept:)``.
    case store(PairingRecord<Known>)
    /// Something of a peer that is stored now came while it was not.
    case receiveAgain(RelayMessage, over: String)
    /// `pairing.changed`, for the host.
    case report(JSONObject)
}
