package import Pairing
package import Signalling
package import Transport
package import Wire

/// What a ``PairingCoordinator`` asks of its role, which may answer at once.
@EventLoop
package protocol PairingRole<Known>: AnyObject {
    associatedtype Known: PairedPeer

    /// Perform a step that only a role can: report a state, greet a desktop, tell a device that it isn't paired, and all
    /// about a typed code's alias.
    func perform(_ step: PairingStep<Known>)
    /// Store it together with ``PairingRecord/saveSeal(_:)``, then call ``PairingCoordinator/stored(_:_:accept:)``.
    func store(_ record: PairingRecord<Known>)
    /// Process a frame that was held: its sender's pairing is stored now.
    func receive(_ message: PeerMessage, over route: RouteID)
}
