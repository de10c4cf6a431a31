import Hosting
import JSON
import Pairing
import Peering
import Sealing
import Signalling
import Transport
import Wire

/// Sends payloads to paired desktops, sealed if the desktop was paired sealed (WireSealing, "The seal").
@EventLoop
struct DesktopSender {
    let context: DeviceContext
    let desktops: DesktopBook
    let routes: Routes
    let channel: PeerChannel

    /// To a paired desktop, over its best route or this one.
    func send(_ payload: JSONValue, to peer: PeerID, over route: RouteID? = nil) -> (sent: Sent, route: RouteID?) {
        guard let desktop = desktops.peers.peer(peer), let route = route ?? routes.bestRoute(of: peer) else {
            return (.offline, nil)
        }
        let sent = channel.send(payload, to: peer, sealed: desktop.isSecure, over: routes.link(route))
        if case .unsealable(let error) = sent {
            context.channel.log(.warning, "could not seal a frame: \(error.message)")
        }
        return (sent, route)
    }

    /// To a sealed desktop, over every route. Returns those that accepted it.
    func sendEverywhere(_ payload: JSONValue, to peer: PeerID) -> [RouteID] {
        guard desktops.isSecure(peer), !routes.isAbsent(peer) else { return [] }
        return routes.routes(of: peer).filter { send(payload, to: peer, over: $0).sent.isWritten }
    }

    /// Tells a sealed desktop which of its pushes was stored last: it sends what follows.
    ///
    /// - Parameter route: `nil` = its best route.
    func sayHello(_ hello: PairingHello, to peer: PeerID, over route: RouteID? = nil) {
        if desktops.isSecure(peer) { _ = send(hello.json, to: peer, over: route) }
    }

    /// Tells the desktop whether its push was shown. Best effort: nothing waits for a desktop that is not there.
    func sendReceipt(id: NotificationID, presented: Bool, to desktop: PeerID) {
        guard desktops.isSecure(desktop), routes.bestRoute(of: desktop) != nil, !routes.isAbsent(desktop) else {
            return
        }
        _ = send(PushReceipt(id: id, isPresented: presented, at: .now).json, to: desktop)
    }

    /// Only to sealed desktops: no other understands it.
    func sendUnpair(to peer: PeerID) {
        guard desktops.isSecure(peer), let route = routes.bestRoute(of: peer) else { return }
        _ = channel.sendUnpair(to: peer, over: routes.link(route))
    }

    /// Every route of the desktop counts as new.
    func registered(_ peer: PeerID) { for route in routes.routes(of: peer) { registered(peer, over: route) } }

    /// The route is up: the handshake of a session goes before what is sealed.
    func registered(_ peer: PeerID, over route: RouteID) {
        guard desktops.isSecure(peer), let link = routes.link(route) else { return }
        channel.sessions?.registered(peer, over: link)
    }
}
