import Hosting
import JSON
import Signalling
import Transport
import Wire

/// The second connection of a typed code: registered as `pairing-code:<digits>` while the code is shown (WirePairing,
/// "Typed codes").
@EventLoop
final class TypedCodeAlias {
    private let maker: RelayLinkMaker
    private var link: (any RouteLink)?

    nonisolated init(_ maker: RelayLinkMaker) { self.maker = maker }

    /// Replaces the alias before it. The handler hears only of this one.
    ///
    /// - Parameter naming: who names senders at this relay, as far as is known.
    func open(
        _ id: PeerID, at url: String, naming: SenderNaming, _ handler: @escaping @EventLoop (LinkEvent) -> Void
    ) throws(HostError) {
        close()
        let request = RelayLinkRequest(
            url: url, registration: SignallingFrame.Register(peerID: id, deviceType: .desktop), provingWith: nil,
            namesItself: naming != .byRelay)
        do throws(TransportError) {
            let link = try maker.make(request) { [weak self] link, event in
                if self?.link === link { handler(event) }
            }
            self.link = link
            link.start()
        } catch {
            throw HostError(error)
        }
    }

    func close() {
        let closing = link
        link = nil
        closing?.stop()
    }

    func send(_ payload: JSONValue, to peer: PeerID) { _ = link?.send(to: peer, payload: payload, sealed: false) }

    // The machine sleeps, and wakes, with its network.
    func suspend() { link?.suspend() }
    func resume() { link?.resume() }
    func networkChanged() { if let link, !link.state.isOnline { link.reconnectNow() } }
}
